// Bounds of the integers of a chain of functions, against those that rounding gives.
#include "compiler/conversion/scalar/number_bounds.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "hw/numerics/numerics.h"

namespace sluice::rows::test {
namespace {

using reference::Function;

constexpr double kBeyond = std::numeric_limits<double>::infinity();

/// min(max(round(f(x) / step), 0), 255), where `f` adds a function of input 0.
Expr byteOf(double step, const std::function<NodeId(Expr &, NodeId)> &f) {
  Expr expr;
  const NodeId y = f(expr, expr.input(0));
  const NodeId rounded =
      expr.call(Function::RoundEven, {expr.binary(ScalarOp::Mul, y, expr.constant(1 / step))});
  expr.result = expr.binary(ScalarOp::Min, expr.binary(ScalarOp::Max, rounded, expr.constant(0)),
                            expr.constant(255));
  return expr;
}

NodeId sigmoid(Expr &expr, NodeId x) {
  const NodeId e = expr.call(Function::Exp, {expr.binary(ScalarOp::Mul, x, expr.constant(-1))});
  const NodeId one = expr.constant(1);
  return expr.binary(ScalarOp::Div, one, expr.binary(ScalarOp::Add, e, one));
}

NodeId leakyRelu(Expr &expr, NodeId x) {
  const NodeId scaled = expr.binary(ScalarOp::Mul, x, expr.constant(0.125));
  return expr.select(expr.binary(ScalarOp::Lt, x, expr.constant(0)), scaled, x);
}

NodeId roundingOf(const Expr &expr) {
  for (const NodeId node : expr.reachable(expr.result))
    if (expr[node].op == ScalarOp::Call && expr[node].function == Function::RoundEven)
      return node;
  return 0;
}

std::optional<int64_t> boundOf(const Expr &expr, const Number &input, bool isOneTable) {
  const std::vector<Number> inputs{input}, numbers = numbersOf(expr, inputs);
  const NodeId rounding = roundingOf(expr);
  return differenceOf(expr, rounding, *spanOf(expr, rounding), {inputs, numbers, isOneTable});
}

/// The largest difference if the input alone is rounded to bf16.
double largestOf(const Expr &expr, double low, double high) {
  double largest = 0;
  for (int i = 0; i <= 200'000; ++i) {
    const auto x = static_cast<float>(low + (high - low) * i / 200'000);
    const double stored = numerics::bf16ToDouble(numerics::roundToBf16(x));
    largest = std::max(
        largest, std::fabs(expr.evaluate(expr.result, {x}) - expr.evaluate(expr.result, {stored})));
  }
  return largest;
}

Number between(double low, double high) { return Number::exact(low, high, false); }

TEST(NumberBounds, OneTableOfASumIsRoundedOnce) {
  const Expr sharp = byteOf(1 / 256.0, sigmoid), wide = byteOf(0.05, leakyRelu);
  EXPECT_EQ(boundOf(sharp, between(-20, 20), true), 1);
  EXPECT_EQ(boundOf(wide, between(-20, 20), true), 1);
  EXPECT_EQ(largestOf(sharp, -20, 20), 1);
  EXPECT_EQ(largestOf(wide, -20, 20), 1);
}

TEST(NumberBounds, EveryRoundingOfAChainCounts) {
  EXPECT_EQ(boundOf(byteOf(1 / 256.0, sigmoid), between(-20, 20), false), 3);
}

TEST(NumberBounds, FindsAJump) {
  const Expr jump = byteOf(1, [](Expr &expr, NodeId x) {
    return expr.select(expr.binary(ScalarOp::Lt, x, expr.constant(3.001)), expr.constant(7),
                       expr.constant(40));
  });
  EXPECT_EQ(largestOf(jump, 2, 4), 33);
  EXPECT_GE(boundOf(jump, between(2, 4), true).value_or(255), 33);
}

TEST(NumberBounds, NothingIsKnownOfNumbersThatMayBeAnything) {
  Number any;
  EXPECT_EQ(boundOf(byteOf(1 / 256.0, sigmoid), any, true), std::nullopt);
  Number far = between(-kBeyond, kBeyond);
  EXPECT_EQ(boundOf(byteOf(1 / 256.0, sigmoid), far, true), 1);
  // The input itself may be off by 2.
  far.distance = 2;
  EXPECT_EQ(boundOf(byteOf(1, [](Expr &, NodeId x) { return x; }), far, true), 3);
}

TEST(NumberBounds, IntegersThatRowsHaveAreExact) {
  EXPECT_EQ(
      boundOf(byteOf(1, [](Expr &, NodeId x) { return x; }), Number::exact(0, 255, true), true), 0);
}

} // namespace
} // namespace sluice::rows::test
