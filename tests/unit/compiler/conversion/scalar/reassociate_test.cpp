#include "compiler/conversion/scalar/reassociate.h"

#include <gtest/gtest.h>

namespace sluice::rows::test {
namespace {

/// Input 0 is no constant; 1 to 4 are.
bool isConstant(uint32_t input) { return input != 0; }

size_t operations(const Expr &expr) {
  size_t count = 0;
  for (const NodeId node : expr.reachable(expr.result)) {
    bool onInput = false;
    for (const NodeId part : expr.reachable(node))
      onInput |= expr[part].op == ScalarOp::Input && expr[part].input == 0;
    count += onInput && expr[node].op != ScalarOp::Input;
  }
  return count;
}

/// The same value, and so many operations that are left on the operand that is no constant.
void expectSame(const Expr &expr, size_t left) {
  const Expr other = reassociated(expr, isConstant);
  EXPECT_EQ(operations(other), left);
  const std::vector<double> inputs = {3, 5, 7, 11, 13};
  EXPECT_DOUBLE_EQ(other.evaluate(other.result, inputs), expr.evaluate(expr.result, inputs));
}

TEST(Reassociate, SumsOfEverySign) {
  for (const bool firstLeft : {false, true})
    for (const bool secondLeft : {false, true})
      for (const ScalarOp first : {ScalarOp::Add, ScalarOp::Sub})
        for (const ScalarOp second : {ScalarOp::Add, ScalarOp::Sub}) {
          Expr expr;
          const NodeId x = expr.input(0), a = expr.input(1), b = expr.input(2);
          const NodeId sum = firstLeft ? expr.binary(first, a, x) : expr.binary(first, x, a);
          expr.result = secondLeft ? expr.binary(second, b, sum) : expr.binary(second, sum, b);
          expectSame(expr, 1);
        }
}

TEST(Reassociate, KeepsConstantsApartThatMayNotBeAdded) {
  Expr expr;
  expr.result = expr.binary(ScalarOp::Sub, expr.binary(ScalarOp::Add, expr.input(0), expr.input(1)),
                            expr.input(2));
  const std::vector<double> inputs = {3, 5, 7, 11, 13};
  double sum = 0;
  const Expr other =
      reassociated(expr, isConstant, [&](const Expr &of, NodeId, NodeId, NodeId both) {
        sum = of.evaluate(both, inputs);
        return false;
      });
  EXPECT_EQ(sum, -2);
  EXPECT_EQ(operations(other), 2U);
  EXPECT_EQ(other.evaluate(other.result, inputs), 1);
}

TEST(Reassociate, ProductsAndLongChains) {
  Expr expr;
  const NodeId x = expr.input(0);
  NodeId value =
      expr.binary(ScalarOp::Mul, expr.binary(ScalarOp::Mul, x, expr.input(1)), expr.input(2));
  value = expr.binary(ScalarOp::Add, value, expr.input(3));
  value = expr.binary(ScalarOp::Sub, value, expr.input(4));
  expr.result = expr.binary(ScalarOp::Add, value, expr.input(1));
  expectSame(expr, 2);
}

TEST(Reassociate, QuotientsAreProducts) {
  for (const bool divisionFirst : {false, true}) {
    Expr expr;
    const ScalarOp first = divisionFirst ? ScalarOp::Div : ScalarOp::Mul;
    const ScalarOp second = divisionFirst ? ScalarOp::Mul : ScalarOp::Div;
    expr.result =
        expr.binary(second, expr.binary(first, expr.input(0), expr.input(1)), expr.input(2));
    expectSame(expr, 1);
  }
  Expr expr; // a constant divided by the value stays
  expr.result = expr.binary(ScalarOp::Div, expr.input(1),
                            expr.binary(ScalarOp::Mul, expr.input(0), expr.input(2)));
  const Expr other = reassociated(expr, isConstant);
  const std::vector<double> inputs = {3, 5, 7, 11, 13};
  EXPECT_DOUBLE_EQ(other.evaluate(other.result, inputs), expr.evaluate(expr.result, inputs));
}

TEST(Reassociate, KeepsDifferencesBeforeProducts) {
  // (x - a) * b loses digits as x * b - a * b.
  Expr expr;
  const NodeId distance = expr.binary(ScalarOp::Sub, expr.input(0), expr.input(1));
  expr.result = expr.binary(ScalarOp::Mul, distance, expr.input(2));
  expectSame(expr, 2);
}

TEST(Reassociate, KeepsValuesThatOthersRead) {
  Expr expr;
  const NodeId sum = expr.binary(ScalarOp::Add, expr.input(0), expr.input(1));
  expr.result = expr.binary(ScalarOp::Mul, sum, expr.binary(ScalarOp::Add, sum, expr.input(2)));
  expectSame(expr, 3);
}

} // namespace
} // namespace sluice::rows::test
