// Reductions on the vector unit: maximum, minimum, product and the index of the
// maximum.
#pragma once

#include "compiler/conversion/rows/lowering.h"
#include "compiler/dialect/sluice/operations.h"

namespace sluice::rows {

/// A reduction on indices. The kept axes stay in order, so it is the same with
/// and without keepdims.
struct Reduction {
  explicit Reduction(ir::ReduceOp op);

  std::vector<int64_t> target;  ///< row-major index of the result, by element of the input
  std::vector<int64_t> ordinal; ///< row-major index among the elements that become one
  reference::Shape keptShape;   ///< reduced axes have extent 1
  int64_t count;                ///< elements that become one
};

/// Indices below it are bf16 values, and so are their distances to it.
inline constexpr int64_t kMostIndices = 256;

/// Rows of the shape with reduced extents of 1. An arg max is over kMostIndices
/// elements at most.
RowTensor foldRows(Lowering &lowering, ir::ReduceOp op, const Reduction &reduction);

} // namespace sluice::rows
