// A lower bound on the rows that are stored at once, known before a row is made.
#pragma once

#include <cstdint>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "compiler/support/problem.h"

namespace sluice::rows {

struct RowBound {
  uint64_t rows = 0;  ///< of one tensor, which are stored at once
  uint64_t beats = 0; ///< of one inference, without those of vector units
  NodeRef node;       ///< that computes the rows
};

/// Returns a bound for a function after layout. Each graph that lowerToRows makes of it stores as
/// many rows at once or more, and takes as many beats or more.
RowBound rowBound(mlir::func::FuncOp function, uint32_t lanes);

} // namespace sluice::rows
