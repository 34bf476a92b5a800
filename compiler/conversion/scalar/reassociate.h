// Operations with constants that differ from lane to lane, one behind the other.
#pragma once

#include <functional>

#include "compiler/conversion/scalar/expr.h"

namespace sluice::rows {

/// Whether the sum of two constants may stand for both: nodes of an expression.
using MayAdd = std::function<bool(const Expr &expr, NodeId one, NodeId other, NodeId sum)>;

/// The expression with one constant where a model adds several in a row, or multiplies by several:
/// (x + a) - b is x + (a - b). `isConstant` says which inputs are constants. Without `mayAdd`, all
/// sums may stand for their constants.
Expr reassociated(const Expr &expr, const std::function<bool(uint32_t input)> &isConstant,
                  const MayAdd &mayAdd = {});

} // namespace sluice::rows
