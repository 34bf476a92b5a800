// What is written for a report of engines that differ.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/problem.h"
#include "tools/cli/io/tensor.h"

namespace sluice::cli {

/// Writes a folder for a problem of the engines, named after the program and the code, and adds a
/// note that says where: report.json (problem, versions, flags of the program, hash of the program,
/// inputs), the program file unless it came from standard input, and the inputs of an inference
/// that shows the problem as .npy files.
void addEngineBundle(Problem &found, const std::string &program,
                     const std::vector<io::Tensor> &inputs);

} // namespace sluice::cli
