#include "compiler/conversion/rows/split_functions.h"

#include <cmath>

#include "compiler/conversion/rows/table_builder.h"

namespace sluice::rows {
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
    const NodeId quotient = split.select(
        split.binary(ScalarOp::Eq, clamped, split.constant(0)),
        split.constant(function(tiny) / tiny),
        split.binary(ScalarOp::Div, split.call(call.name, call.function, {clamped}), clamped));
    return split.binary(ScalarOp::Mul, clamped, quotient);
  }
  return std::nullopt;
}

/// log(1 + x) is a table up to a limit, and from there on log(x) to within a
/// fifth of a unit in the last place.
NodeId splitLog1p(Expr &split, const ScalarNode &log1p, NodeId x) {
  constexpr double limit = 256;
  return split.select(split.binary(ScalarOp::Lt, x, split.constant(limit)),
                      split.call(log1p.name, log1p.function,
                                 {split.binary(ScalarOp::Min, x, split.constant(limit))}),
                      split.call("math.log", [](const double *v) { return std::log(v[0]); }, {x}));
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
    return n.name == "math.log1p" ? splitLog1p(split, n, x)
                                  : splitBounded(split, n, expr.functionOf(node, n.args[0]), x);
  });
  return split;
}

} // namespace sluice::rows
