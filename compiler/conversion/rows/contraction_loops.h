// A contraction as a nest of loops.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/reference/tensor.h"

namespace sluice::rows {

/// Trips of some of the loops, as index offsets in two operands and the result.
struct Trip {
  int64_t x = 0, w = 0, out = 0;
};

/// No loop: an axis that stands still.
inline constexpr size_t kNoLoop = ~size_t{0};

/// A contraction as loops: what one more trip adds to the row-major index of
/// each tensor, and which loop runs along each axis.
struct Loops {
  std::vector<int64_t> extents;
  std::vector<int64_t> lhs, rhs, result;
  std::vector<size_t> lhsAxes, rhsAxes, resultAxes;

  /// All trips of the nest of some loops; x is the left operand if `xFirst`.
  [[nodiscard]] std::vector<Trip> trips(const std::vector<size_t> &which, bool xFirst) const;
};

/// Whether an operation multiplies two tensors in matrix units.
bool isProduct(mlir::Operation *op);

/// The loops of an operation with two operands, from its index space.
Loops loopsOf(mlir::Operation *op);

/// A contraction in double, computed at some of its positions: the indices of the loops that
/// one operand alone has in common with the result.
struct Sampled {
  reference::Tensor result; ///< every other position has the values of the sampled one before it
  int64_t positions = 1;    ///< of the contraction
  int64_t sampled = 1;      ///< evenly spaced, the first among them
};

/// As many positions of `left` (or of `right`, if `left` is constant) as take at most
/// `products` multiplications, but at least one.
Sampled sampleContraction(const Loops &loops, bool leftMoves, const reference::Tensor &left,
                          const reference::Tensor &right, const reference::Shape &shape,
                          int64_t products);

} // namespace sluice::rows
