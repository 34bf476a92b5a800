// Sums that rows share, computed again for each row.
#pragma once

#include "mlir/IR/Value.h"

#include "compiler/conversion/rows/graph_builder.h"
#include "compiler/conversion/rows/row_tensor.h"

namespace sluice::rows {

/// Returns whether each row of a tensor can sum again at little cost: every row is a scaled sum,
/// and has its sum alone or shares a sum of equal lanes with one other reader. Besides the rows of
/// the tensor, `others` operations read each sum.
bool canRepeatSums(const GraphBuilder &graph, const RowTensor &tensor, size_t others = 0);

/// Gives each row of `value` a sum of its own, if canRepeatSums. The map that reads a row then
/// reads its sum before the sum is rounded, and no pass of the vector unit stores the sum.
void repeatSharedSums(GraphBuilder &graph, mlir::Value value, RowTensor &tensor);

} // namespace sluice::rows
