// What the result of a case may be off by, and how far off it is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/reference/tensor.h"

namespace sluice::ops_test {

/// The tensors prefix_0.pb, prefix_1.pb and so on of a folder.
std::vector<reference::Tensor> readTensors(const std::filesystem::path &folder,
                                           const std::string &prefix);

/// An output against the one that is stored beside the model.
struct Deviation {
  double largest = 0; ///< the largest magnitude of the output
  double error = 0;   ///< of the element whose error is the largest part of its bound
  double bound = 0;   ///< of the same element

  /// The error as a part of the bound.
  double part() const;
};

/// A case: its model, and the outputs that are stored for its inputs.
///
/// The bound of an element follows from how the model's own values move when they are rounded. The
/// inputs are rounded to bf16, as the machine reads them; then every constant and every result of
/// an operation is rounded: to the nearest number, upwards, and downwards. The bound is thrice the
/// largest movement of the element, at least thrice the usual one of elements of its size, and at
/// least two roundings of the element. Where nothing is rounded the bound is 0: the result is
/// exact. An integer that a quantisation writes may be the next one, as rounding can move a number
/// across the middle between two steps. At least half of the elements that are not zero must be
/// larger than their bounds: a case whose outputs could be zero unnoticed tests nothing.
class Expectation {
public:
  Expectation(const std::filesystem::path &folder, const std::vector<reference::Tensor> &inputs);

  /// Elements may be off by no more than this part of themselves.
  void tighten(double part);
  /// Whether zeros must not pass.
  bool isSensitive = true;

  /// Expects the outputs (row-major, one per output of the model) to be within their bounds.
  /// Returns the deviation that is the largest part of its bound.
  Deviation check(const std::vector<std::vector<double>> &outputs) const;

private:
  std::vector<reference::Tensor> expected;
  std::vector<std::vector<double>> bounds; ///< by output and element
};

} // namespace sluice::ops_test
