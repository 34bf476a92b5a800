// Rounding to integers that is exact: the number is moved to where neighbours in bf16 are integers,
// so that it is rounded once, as every row and every operand of a table is.
#pragma once

#include <functional>
#include <optional>

#include "compiler/conversion/scalar/expr.h"

namespace sluice::rows {

/// Integers in a window, and the first of them.
inline constexpr int64_t kIntegerWindow = 128;

/// Between 128 and 256 the bf16 numbers are the integers. A function of the integer nearest to v
/// that is constant outside of 128 or 256 integers is one function of v + shift, or the sum of one
/// of v + shift and one of v + shift - 128.
struct IntegerWindows {
  NodeId end = 0;    ///< a function of v with integers of at most 256 as values
  int64_t shift = 0; ///< even
  bool two = false;
};

/// Those behind node `v` of an expression; nothing if it is not rounded to an integer there, if
/// something else reads it too, or if the integers are too many.
std::optional<IntegerWindows> integerWindows(const Expr &expr, NodeId v);

/// Adds a node to `to` that has the value of `windows.end`, and returns it. `moved` adds the node
/// v + shift for a given shift. It is called once for each window.
NodeId addWindows(Expr &to, const Expr &expr, NodeId v, const IntegerWindows &windows,
                  const std::function<NodeId(double)> &moved);

/// Rounds sums of two rows to integers in windows: one of the two, scaled, is kept as fp32.
/// `isRow` says which inputs are rows of bf16 numbers.
Expr sumsInWindows(const Expr &expr, const std::function<bool(uint32_t)> &isRow);

/// Returns the first node whose values are integers of at most 256, and which a later rounding to
/// integers reads together with other numbers. `isCandidate` says which nodes count.
std::optional<NodeId> nextIntegers(const Expr &expr,
                                   const std::function<bool(NodeId)> &isCandidate);

/// Limits of a factor or an addend that is the same for all elements become limits of the result:
/// max(x, a) * b is max(x * b, a * b) for a positive b. Limits of integers stay before a factor.
Expr limitsLast(const Expr &expr);

} // namespace sluice::rows
