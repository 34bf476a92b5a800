// What the result of a case may be off by, and how far off it is.
#pragma once

#include <filesystem>
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
  double error = 0;   ///< of the element that is farthest off
  double bound = 0;

  /// The error as a part of the bound.
  double part() const;
};

/// A case: its model, and the outputs that are stored for its inputs.
///
/// The bound of an output follows from how the model's own values move when they are rounded: its
/// inputs are rounded to bf16, as the machine takes them, and then every value on the way is, its
/// constants and what each operation gives: to the nearest number, upwards, and downwards. What
/// that changes, at the element that moves most, is what one rounding of each value costs.
/// Operations of the model are several on the machine (a product over many elements is summed in
/// parts, a softmax is differences, exponentials, a sum and quotients), so thrice that is allowed.
/// An integer that a quantisation gives may be the next one: its step is no rounding of ours, but
/// a number on one side of the middle between two may be on the other once it is rounded.
/// Where nothing is rounded the bound is 0, and the result is exact.
class Expectation {
public:
  Expectation(const std::filesystem::path &folder, const std::vector<reference::Tensor> &inputs);

  /// Expects the outputs (row-major, one per output of the model) to be within their bounds; that
  /// of the output that is nearest to it.
  Deviation check(const std::vector<std::vector<double>> &outputs) const;

private:
  std::vector<reference::Tensor> expected;
  std::vector<double> bounds; ///< one per output
};

} // namespace sluice::ops_test
