// A plan as JSON.
#pragma once

#include <array>
#include <string>

#include "compiler/pipeline/pipeline.h"
#include "tools/cli/command_output.h"

namespace sluice::cli {

/// "core 0 matrix unit", "core 0 vector unit", "host port": the unit of a plan::PathStep.
std::string unitName(const plan::Explanation &explanation, uint32_t unit);

/// The result of explain --plan --json. `result` has an explanation; `summary` is its planSummary.
Json planJson(const pipeline::CompileResult &result, const std::array<std::string, 3> &summary);

} // namespace sluice::cli
