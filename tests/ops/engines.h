// Inferences of a program on both engines, step by step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/program.h"

namespace sluice::ops_test {

struct RunResult {
  std::string problem;                      ///< empty, or how the engines differ or stall
  std::vector<std::vector<double>> outputs; ///< row-major, one per output of the model
  uint64_t cycles = 0;
};

/// Runs the program's model on `vm` and `rtl` in lockstep: in every cycle both
/// take the same row, give the same row and make progress, or it is a problem.
/// `inputs` are row-major.
RunResult runOnBoth(const format::Program &program, const std::vector<std::vector<double>> &inputs);

/// The same for inferences one after the other, their rows always offered. After
/// a problem the rest is missing.
std::vector<RunResult> runSequence(const format::Program &program,
                                   const std::vector<std::vector<std::vector<double>>> &inferences);

} // namespace sluice::ops_test
