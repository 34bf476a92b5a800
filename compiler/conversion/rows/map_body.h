// The body of a map as an expression.
#pragma once

#include "mlir/IR/Region.h"

#include "compiler/conversion/scalar/expr.h"

namespace sluice::rows {

/// Adds the body's result to an expression, in which nodes stand for its arguments.
NodeId importBody(Expr &expr, mlir::Region &body, const std::vector<NodeId> &arguments);

} // namespace sluice::rows
