// What to check a program with, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/reference/tensor.h"
#include "compiler/support/problem.h"

namespace sluice::check {

struct Options {
  /// So many inputs; nothing: as many as take no longer than a part of the compilation.
  std::optional<uint64_t> inputs;
  uint64_t seed = 1; ///< of the random inputs
  /// What checking may cost if the number of inputs is not given: products that are evaluated.
  uint64_t work = 0;
  /// Inputs of the user, which come first: a tensor for each input of the model.
  std::vector<reference::Tensors> given;
};

/// Inputs that bring out a fault.
struct Evidence {
  std::string inputs;                    ///< "normal, deviation 1"
  std::vector<std::string> names;        ///< of the model's inputs
  std::vector<reference::Tensors> steps; ///< by step, a tensor for each input
};

/// How a program agrees with its model.
struct Outcome {
  uint64_t inputs = 0;            ///< that were run
  uint64_t steps = 0;             ///< of each, with --stream or --state; else 0
  uint64_t elements = 0;          ///< of outputs that were compared, those unchecked among them
  uint64_t unchecked = 0;         ///< elements that rounding alone moves too much
  double largestError = 0;        ///< as a share of the range of its output
  std::optional<Problem> problem; ///< E0498
  Evidence evidence;              ///< if there is a problem

  [[nodiscard]] double uncheckedShare() const {
    return elements > 0 ? static_cast<double>(unchecked) / static_cast<double>(elements) : 0;
  }
};

} // namespace sluice::check
