// The options and the outcome of the check of a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/program_facts.h"
#include "compiler/reference/tensor.h"
#include "compiler/support/problem.h"

namespace sluice::check {

struct Options {
  /// The number of inputs; nothing: as many as `work` allows.
  std::optional<uint64_t> inputs;
  uint64_t seed = 1; ///< of the random inputs
  ProgramFacts facts;
  /// The time for the check in nanoseconds, if `inputs` has no value.
  uint64_t work = 0;
  /// Inputs of the user, which run first. Each has a tensor for each input of the model.
  std::vector<reference::Tensors> given;
};

/// Inputs that reveal a fault.
struct Evidence {
  std::string inputs;                    ///< "normal, deviation 1"
  std::vector<std::string> names;        ///< names of the inputs of the model
  std::vector<reference::Tensors> steps; ///< for each step, a tensor for each input
};

/// The outcome of the check.
struct Outcome {
  uint64_t inputs = 0;            ///< number of inputs that were run
  uint64_t steps = 0;             ///< steps of each input, with --stream or --state; otherwise 0
  uint64_t elements = 0;          ///< number of compared elements, including unchecked ones
  uint64_t unchecked = 0;         ///< elements that rounding alone moves by more than kMostMoved
  double largestError = 0;        ///< as a share of the range of the output
  std::optional<Problem> problem; ///< E0498 if an output is wrong
  Evidence evidence;              ///< inputs that show the problem

  [[nodiscard]] double uncheckedShare() const {
    return elements > 0 ? static_cast<double>(unchecked) / static_cast<double>(elements) : 0;
  }
};

} // namespace sluice::check
