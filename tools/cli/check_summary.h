// What the check of a program found, as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "compiler/check/outcome.h"
#include "tools/cli/command_output.h"

namespace sluice::cli {

/// "4 inputs of 8 steps, largest error 0.41 % of the range, 3.2 % unchecked"
std::string checkedText(const check::Outcome &checked);

/// {"inputs","steps","max_error_percent","unchecked_percent"}; null without a check.
Json checkedJson(const std::optional<check::Outcome> &checked);

} // namespace sluice::cli
