// Rounding to integers in windows: exact wherever bf16 alone would round a second time.
#include "compiler/conversion/scalar/integer_windows.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/conversion/scalar/map_select.h"

namespace sluice::rows::test {
namespace {

using reference::Function;

/// min(max(round(v) + zero, low), high).
Expr quantised(double zero, double low, double high) {
  Expr expr;
  const NodeId rounded = expr.call(Function::RoundEven, {expr.input(0)});
  const NodeId sum = expr.binary(ScalarOp::Add, rounded, expr.constant(zero));
  expr.result = expr.binary(ScalarOp::Min, expr.binary(ScalarOp::Max, sum, expr.constant(low)),
                            expr.constant(high));
  return expr;
}

NodeId inputOf(const Expr &expr) {
  for (const NodeId node : expr.reachable(expr.result))
    if (expr[node].op == ScalarOp::Input)
      return node;
  return 0;
}

/// Has the value of all of `expr`: `of` adds v + shift for input 0, v + shift - 128 for input 1.
Expr moved(const Expr &expr, const IntegerWindows &windows,
           const std::function<NodeId(Expr &, uint32_t)> &of) {
  Expr to;
  to.result = addWindows(to, expr, inputOf(expr), windows, [&](double shift) {
    return of(to, shift == static_cast<double>(windows.shift) ? 0 : 1);
  });
  return to;
}

/// The steps of a byte whose sums, inputs 0 and 1, are multiplied by `factor`.
std::optional<MapPlan> stepsOfByte(const std::function<NodeId(Expr &)> &factor,
                                   const std::vector<MapOperand> &operands) {
  const Expr expr = quantised(0, 0, 255);
  const Expr scaled =
      moved(expr, *integerWindows(expr, inputOf(expr)), [&](Expr &to, uint32_t input) {
        return to.binary(ScalarOp::Mul, to.input(input), factor(to));
      });
  TableCache tables;
  std::string why;
  return selectMap(scaled, operands, tables, why);
}

/// The same value for every number, ties, neighbours of ties and infinities included.
void expectSame(const Expr &expr, const IntegerWindows &windows) {
  const Expr other = moved(expr, windows, [](Expr &to, uint32_t input) { return to.input(input); });
  const auto shift = static_cast<double>(windows.shift);
  const auto check = [&](double v) {
    EXPECT_EQ(other.evaluate(other.result, {v + shift, v + shift - 128}),
              expr.evaluate(expr.result, {v}))
        << v;
  };
  for (double half = -1200; half <= 1200; ++half)
    for (const double near : {0.0, 0x1p-15, -0x1p-15, 0.25})
      check(half / 2 + near);
  for (const double far : {1e5, -1e5, std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()})
    check(far);
}

TEST(IntegerWindows, TwoForAByte) {
  for (const double zero : {0.0, 1.0, 7.0, 128.0, 254.0, 255.0}) {
    const Expr expr = quantised(zero, 0, 255);
    const auto windows = integerWindows(expr, inputOf(expr));
    ASSERT_TRUE(windows) << zero;
    EXPECT_TRUE(windows->two);
    EXPECT_EQ(windows->shift % 2, 0);
    EXPECT_EQ(windows->end, expr.result);
    expectSame(expr, *windows);
  }
  for (const double zero : {-128.0, -3.0, 0.0, 127.0}) {
    const Expr expr = quantised(zero, -128, 127);
    const auto windows = integerWindows(expr, inputOf(expr));
    ASSERT_TRUE(windows) << zero;
    expectSame(expr, *windows);
  }
}

TEST(IntegerWindows, OneForHalfOfThem) {
  const Expr expr = quantised(-128, 0, 127); // behind a Relu
  const auto windows = integerWindows(expr, inputOf(expr));
  ASSERT_TRUE(windows);
  EXPECT_FALSE(windows->two);
  expectSame(expr, *windows);
}

TEST(IntegerWindows, NoneForMoreIntegersThanTwoWindowsHave) {
  for (const Expr &expr : {quantised(0, -200, 200), quantised(0, 0, 258)})
    EXPECT_FALSE(integerWindows(expr, inputOf(expr)));
  Expr unlimited;
  unlimited.result = unlimited.call(Function::RoundEven, {unlimited.input(0)});
  EXPECT_FALSE(integerWindows(unlimited, 0));
}

TEST(IntegerWindows, NoneWhereTheNumberIsReadUnroundedToo) {
  Expr expr = quantised(0, 0, 255);
  const NodeId v = inputOf(expr);
  expr.result = expr.binary(ScalarOp::Mul, expr.result, v);
  EXPECT_FALSE(integerWindows(expr, v));
  // Through a limit before rounding.
  Expr other;
  const NodeId limited = other.binary(ScalarOp::Max, other.input(0), other.constant(0));
  const NodeId rounded =
      other.binary(ScalarOp::Min, other.call(Function::RoundEven, {limited}), other.constant(100));
  other.result = other.binary(ScalarOp::Mul, rounded, limited);
  EXPECT_EQ(integerWindows(other, inputOf(other))->end, rounded);
}

TEST(IntegerWindows, EndsWhereIntegersEnd) {
  Expr expr = quantised(3, 0, 255);
  const NodeId integers = expr.result;
  expr.result = expr.binary(ScalarOp::Mul, integers, expr.constant(0.1));
  const auto windows = integerWindows(expr, inputOf(expr));
  ASSERT_TRUE(windows);
  EXPECT_EQ(windows->end, integers);
}

/// A comparison is 0 or 1, but what it compares is read besides.
TEST(IntegerWindows, EndsBeforeTwoReaders) {
  Expr expr = quantised(3, 0, 255);
  const NodeId integers = expr.result;
  const NodeId scaled = expr.binary(ScalarOp::Mul, integers, expr.constant(0.1));
  const NodeId isZero = expr.binary(ScalarOp::Eq, scaled, expr.constant(0));
  expr.result = expr.select(isZero, expr.constant(0.7), scaled);
  const auto windows = integerWindows(expr, inputOf(expr));
  ASSERT_TRUE(windows);
  EXPECT_EQ(windows->end, integers);
}

TEST(IntegerWindows, LimitsComeLast) {
  Expr expr;
  const NodeId relu = expr.binary(ScalarOp::Max, expr.input(0), expr.constant(0));
  const NodeId clipped = expr.binary(ScalarOp::Min, relu, expr.constant(6));
  const NodeId scaled = expr.binary(ScalarOp::Mul, clipped, expr.constant(42.5));
  expr.result =
      expr.call(Function::RoundEven, {expr.binary(ScalarOp::Add, scaled, expr.constant(2))});
  const Expr last = limitsLast(expr);
  const ScalarNode &outer = last[last[last.result].args[0]];
  EXPECT_EQ(outer.op, ScalarOp::Min);
  EXPECT_EQ(last[outer.args[1]].value, 257);
  EXPECT_EQ(last[outer.args[0]].op, ScalarOp::Max);
  for (double x = -10; x < 10; x += 0.125)
    EXPECT_EQ(last.evaluate(last.result, {x}), expr.evaluate(expr.result, {x}));
}

/// A negative factor exchanges upper and lower limits, which nothing needs.
TEST(IntegerWindows, LimitsStayBeforeANegativeFactor) {
  Expr expr;
  const NodeId relu = expr.binary(ScalarOp::Max, expr.input(0), expr.constant(0));
  expr.result = expr.binary(ScalarOp::Mul, relu, expr.constant(-2));
  const Expr last = limitsLast(expr);
  EXPECT_EQ(last[last.result].op, ScalarOp::Mul);
}

/// Behind integers a factor stays where it is, so that they remain integers.
TEST(IntegerWindows, LimitsOfIntegersStay) {
  Expr expr = quantised(3, 0, 255);
  expr.result = expr.binary(ScalarOp::Mul, expr.result, expr.constant(0.3));
  const Expr last = limitsLast(expr);
  EXPECT_EQ(last[last.result].op, ScalarOp::Mul);
  EXPECT_EQ(last[last[last.result].args[0]].op, ScalarOp::Min);
}

/// A residual connection behind a quantised sum: the integers of the sum are added to other numbers
/// and rounded again.
TEST(IntegerWindows, FindIntegersThatASumReads) {
  Expr expr = quantised(0, -128, 127);
  const NodeId integers = expr.result;
  const NodeId scaled = expr.binary(ScalarOp::Mul, integers, expr.constant(0.3));
  const NodeId sum = expr.binary(ScalarOp::Add, scaled, expr.input(1));
  expr.result = expr.binary(ScalarOp::Max, expr.call(Function::RoundEven, {sum}), expr.constant(0));
  const auto any = [](NodeId) { return true; };
  EXPECT_EQ(nextIntegers(expr, any), integers);
  EXPECT_EQ(nextIntegers(expr, [&](NodeId node) { return node != integers; }), std::nullopt);
}

/// One table has any function of one integer.
TEST(IntegerWindows, FindNoIntegersInAFunctionOfThem) {
  Expr expr = quantised(0, -128, 127);
  const NodeId half = expr.binary(ScalarOp::Mul, expr.result, expr.constant(0.5));
  const NodeId other = expr.call(Function::Tanh, {expr.result});
  expr.result = expr.call(Function::RoundEven, {expr.binary(ScalarOp::Add, half, other)});
  EXPECT_EQ(nextIntegers(expr, [](NodeId) { return true; }), std::nullopt);
}

/// Each window is one step on a sum: its scale, then a table, which rounds what it takes. The
/// second one adds the first.
TEST(IntegerWindows, TakeTwoSteps) {
  const auto plan = stepsOfByte([](Expr &to) { return to.constant(0.3); },
                                {{.fusable = true}, {.fusable = true}});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->steps.size(), 2U);
  for (const MapStep &step : plan->steps) {
    EXPECT_EQ(step.step.alu1, isa::Alu::Mul);
    EXPECT_EQ(step.step.imm1, 0.3F);
    EXPECT_TRUE(step.step.table);
  }
  EXPECT_EQ(plan->steps[1].step.alu2, isa::Alu::Add);
  EXPECT_EQ(plan->steps[1].c, (Source{Source::Kind::Step, 0, 0}));
}

/// Factors of each lane are fp32, in the place of operands b and c.
TEST(IntegerWindows, TakeFactorsOfEachLane) {
  const auto plan = stepsOfByte([](Expr &to) { return to.input(2); },
                                {{.fusable = true}, {.fusable = true}, {.wide = true}});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->steps.size(), 3U);
  size_t wide = 0;
  for (const MapStep &step : plan->steps) {
    wide += step.step.bWide;
    EXPECT_TRUE(!step.step.bWide || step.c.kind == Source::Kind::None);
  }
  EXPECT_EQ(wide, 2U);
}

} // namespace
} // namespace sluice::rows::test
