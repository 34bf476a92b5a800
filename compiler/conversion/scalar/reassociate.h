// Operations with constants that differ from lane to lane, one behind the other.
#pragma once

#include <functional>

#include "compiler/conversion/scalar/expr.h"

namespace sluice::rows {

/// The expression with one constant where a model adds several in a row, or multiplies by several:
/// (x + a) - b is x + (a - b). `isConstant` says which inputs are constants.
Expr reassociated(const Expr &expr, const std::function<bool(uint32_t input)> &isConstant);

} // namespace sluice::rows
