// A lower bound on the preload rows of a model with states, known before a row is made.
#pragma once

#include <cstdint>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "compiler/support/problem.h"

namespace sluice::rows {

struct SumBound {
  uint64_t rows = 0;     ///< preload rows of all cores together
  uint64_t products = 0; ///< that these sums have of rows of states
  NodeRef node;
};

/// Returns a bound for a function after layout. The planner precomputes products of states, and
/// keeps their sums in as many preload rows or more, whatever the form of the model. No rows if
/// nothing is certain.
SumBound sumBound(mlir::func::FuncOp function, uint32_t lanes);

} // namespace sluice::rows
