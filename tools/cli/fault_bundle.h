// What is written for a report of a program that computes something else than its model.
#pragma once

#include <optional>
#include <string>

#include "compiler/check/outcome.h"
#include "compiler/pipeline/pipeline.h"
#include "tools/cli/command_output.h"

namespace sluice::cli {

/// Writes a folder `folder`: report.json (problem, versions, flags, seed, the model's file name and
/// SHA-256, inputs), the model unless it came from standard input or is large, and the inputs as
/// .npy files. Returns the problem if something cannot be written.
std::optional<Problem> writeBundle(const std::string &folder, const check::Outcome &outcome,
                                   const pipeline::CompileOptions &options, uint64_t seed,
                                   const format::Program &program);

} // namespace sluice::cli
