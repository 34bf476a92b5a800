#include "compiler/conversion/scalar/split_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/conversion/scalar/table_builder.h"

namespace sluice::rows {

using reference::Function;
namespace {

/// Whether `function` is constant in bf16 from `limit` on, on both sides.
bool isFlatBeyond(const ScalarFunction &function, double limit) {
  const uint16_t right = roundToBf16(function(limit)), left = roundToBf16(function(-limit));
  for (uint16_t bits = roundToBf16(limit); bits <= 0x7F80; ++bits) {
    const double x = bf16ToDouble(bits);
    if (roundToBf16(function(x)) != right || roundToBf16(function(-x)) != left)
      return false;
  }
  return true;
}

/// c * (f(c) / c) with c = x clamped to where f is not constant yet, if it ever is.
std::optional<NodeId> splitBounded(Expr &split, const ScalarNode &call,
                                   const ScalarFunction &function, NodeId x) {
  for (double limit = 1; limit <= 4096; limit *= 2) {
    if (!isFlatBeyond(function, limit))
      continue;
    const NodeId clamped =
        split.binary(ScalarOp::Min, split.binary(ScalarOp::Max, x, split.constant(-limit)),
                     split.constant(limit));
    constexpr double tiny = 0x1p-100;
    const NodeId quotient =
        split.select(split.binary(ScalarOp::Eq, clamped, split.constant(0)),
                     split.constant(function(tiny) / tiny),
                     split.binary(ScalarOp::Div, split.call(call.function, {clamped}), clamped));
    return split.binary(ScalarOp::Mul, clamped, quotient);
  }
  return std::nullopt;
}

/// log(1 + x) is a table up to a limit, and from there on log(x) to within a
/// fifth of a unit in the last place.
NodeId splitLog1p(Expr &split, NodeId x) {
  constexpr double limit = 256;
  return split.select(
      split.binary(ScalarOp::Lt, x, split.constant(limit)),
      split.call(Function::Log1p, {split.binary(ScalarOp::Min, x, split.constant(limit))}),
      split.call(Function::Log, {x}));
}

/// log(2 x) for x from 4096 on, where asinh and acosh are that. A doubling would
/// overflow and a table has no entries of that size, so the sum is rounded twice.
NodeId logOfDouble(Expr &split, NodeId x) {
  return split.binary(ScalarOp::Add, split.call(Function::Log, {x}),
                      split.constant(std::numbers::ln2));
}

/// A table up to a limit, infinite beyond it, cut off by +-log(2 |x|), which is at
/// least as large as the table below the limit because its x stays at the limit.
NodeId splitAsinh(Expr &split, NodeId x) {
  constexpr double limit = 4096;
  const NodeId table = split.call(Function::AsinhBelow, {x});
  const NodeId minusOne = split.constant(-1);
  const NodeId size = split.binary(ScalarOp::Max, x, split.binary(ScalarOp::Mul, x, minusOne));
  const NodeId most = logOfDouble(split, split.binary(ScalarOp::Max, size, split.constant(limit)));
  return split.binary(ScalarOp::Max, split.binary(ScalarOp::Min, table, most),
                      split.binary(ScalarOp::Mul, most, minusOne));
}

/// A table up to a limit, log(2 x) from there on.
NodeId splitAcosh(Expr &split, NodeId x) {
  constexpr double limit = 4096;
  const NodeId inside = split.binary(ScalarOp::Min, x, split.constant(limit));
  return split.select(split.binary(ScalarOp::Lt, x, split.constant(limit)),
                      split.call(Function::Acosh, {inside}), logOfDouble(split, x));
}

} // namespace

Expr splitCalls(const Expr &expr, TableCache &tables) {
  Expr split;
  split.result = split.splice(expr, [&](NodeId node, const auto &copy) -> std::optional<NodeId> {
    const ScalarNode &n = expr[node];
    if (n.op == ScalarOp::Input)
      return split.input(n.input);
    if (n.op != ScalarOp::Call || n.count != 1 || tables.of(expr, node, n.args[0]).image)
      return std::nullopt;
    const NodeId x = copy[n.args[0]];
    switch (n.function) {
    case Function::Log1p:
      return splitLog1p(split, x);
    case Function::Asinh:
      return splitAsinh(split, x);
    case Function::Acosh:
      return splitAcosh(split, x);
    default:
      return splitBounded(split, n, expr.functionOf(node, n.args[0]), x);
    }
  });
  return split;
}

} // namespace sluice::rows
