// What is written for a report of engines that differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/support/problem.h"
#include "tools/cli/io/tensor.h"

namespace sluice::cli {

/// Writes a folder `folder` for E0614: report.json (problem, versions, flags of the program, hash
/// of the program, inputs), the program file unless it came from standard input, and the inputs of
/// an inference that differs as .npy files. Returns the problem if something cannot be written.
std::optional<Problem> writeEngineBundle(const std::string &folder, const Problem &difference,
                                         const std::string &program,
                                         const std::vector<io::Tensor> &inputs);

} // namespace sluice::cli
