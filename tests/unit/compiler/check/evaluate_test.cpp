// Emulated rounding on small graphs.
#include "compiler/check/evaluate.h"

#include <cmath>
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/check/bound.h"
#include "compiler/dialect/sluice/dialect.h"

namespace sluice::check {
namespace {

using reference::Tensor;
using testing::Each;
using testing::ElementsAre;

ProgramFacts exactAt(int64_t node) { return {false, {node}, {}}; }
ProgramFacts dynamicAt(int64_t node) { return {false, {}, {node}}; }

class Evaluated : public testing::Test {
protected:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Evaluated() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect>();
  }

  Evaluator &graph(const std::string &text, const ProgramFacts &facts = {}) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return evaluator.emplace(module->lookupSymbol<mlir::func::FuncOp>("main"), allDirections(),
                             facts);
  }

  /// A function of one operand, element by element.
  Evaluator &map(const std::string &body, int extent) {
    const std::string type = "tensor<" + std::to_string(extent) + "xf32>";
    return graph("func.func @main(%x: " + type + ") -> " + type +
                 " {\n  %y = sluice.map (%a = %x) : (" + type + ") -> " + type + " {\n" + body +
                 "    sluice.yield %r\n  }\n  return %y : " + type + "\n}");
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<Evaluator> evaluator;
};

TEST_F(Evaluated, MovesByARoundingOfEachValue) {
  const Spread y = map("    %c = arith.constant 0.1 : f32\n    %r = arith.mulf %a, %c : f32\n", 3)
                       .run({Tensor({3}, {0, 1, 10})})
                       .front();
  const double tenth = static_cast<double>(0.1F);
  EXPECT_THAT(y.exact().values, ElementsAre(0, tenth, 10 * tenth));
  const std::vector<double> moved = y.moved();
  EXPECT_EQ(moved[0], 0);
  EXPECT_GT(moved[1], 0);
  EXPECT_LE(moved[1], 0x1p-11);
}

TEST_F(Evaluated, PassesAJumpThatRoundingMayPass) {
  // 0.1 * 10 is a little more than 1 in fp32; rounded it may be less. 0.1 * 15 is far from a jump.
  const Spread y = map("    %c = arith.constant 0.1 : f32\n    %p = arith.mulf %a, %c : f32\n"
                       "    %r = math.floor %p : f32\n",
                       2)
                       .run({Tensor({2}, {10, 15})})
                       .front();
  EXPECT_THAT(y.exact().values, ElementsAre(1, 1));
  EXPECT_THAT(y.moved(), ElementsAre(1, 0));
}

TEST_F(Evaluated, KeepsJumpsOfWhatIsExact) {
  const Spread y = map("    %r = math.floor %a : f32\n", 3).run({Tensor({3}, {1, 1.5, 2})}).front();
  EXPECT_THAT(y.moved(), Each(0));
}

TEST_F(Evaluated, MovesNoIntegersOfAnExactNode) {
  // The product is rounded to bf16, and node 7 rounds 0.5 of it to integers.
  const std::string text =
      "func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {\n"
      "  %p = sluice.map (%a = %x) : (tensor<3xf32>) -> tensor<3xf32> {\n"
      "    %c = arith.constant 1.234375 : f32\n    %r = arith.mulf %a, %c : f32\n"
      "    sluice.yield %r\n  }\n"
      "  %q = sluice.map (%a = %p) : (tensor<3xf32>) -> tensor<3xf32> {\n"
      "    %c = arith.constant 5.000000e-01 : f32\n    %s = arith.mulf %a, %c : f32\n"
      "    %r = math.roundeven %s : f32\n    sluice.yield %r\n  } "
      "loc(fused<#sluice.node<7, \"q\", \"QuantizeLinear\">>[\"q\"])\n"
      "  return %p, %q : tensor<3xf32>, tensor<3xf32>\n}";
  const Tensor x({3}, {200, 131, 64}); // 0.5 * 1.234375 * 64 is 39.5
  const std::vector<Spread> rounded = graph(text).run({x});
  EXPECT_THAT(rounded[1].moved(), Each(testing::Ge(1)));
  const std::vector<Spread> kept = graph(text, exactAt(7)).run({x});
  EXPECT_THAT(kept[1].exact().values, ElementsAre(123, 81, 40));
  EXPECT_THAT(kept[1].moved(), ElementsAre(0, 0, 1));
  EXPECT_EQ(kept[0].moved(), rounded[0].moved());
  EXPECT_EQ(graph(text, exactAt(6)).run({x})[1].moved(), rounded[1].moved());
}

TEST_F(Evaluated, RoundsTheReciprocalOfAQuotient) {
  const Spread y =
      graph(
          "func.func @main(%x: tensor<1xf32>, %z: tensor<1xf32>) -> tensor<1xf32> {\n"
          "  %y = sluice.map (%a = %x, %b = %z) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "
          "{\n    %r = arith.divf %a, %b : f32\n    sluice.yield %r\n  }\n"
          "  return %y : tensor<1xf32>\n}")
          .run({Tensor({1}, {6}), Tensor({1}, {3})})
          .front();
  EXPECT_EQ(y.exact().values[0], 2);
  EXPECT_GT(y.moved()[0], 0); // 1/3 is no bf16 number
}

TEST_F(Evaluated, ChoosesAnotherIndexWhereRoundingMay) {
  const std::string text =
      "func.func @main(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<1xf32> {\n"
      "  %p = sluice.map (%a = %x, %b = %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> {\n"
      "    %r = arith.mulf %a, %b : f32\n    sluice.yield %r\n  }\n"
      "  %i = sluice.reduce argmax %p axes [0] keepdims : (tensor<3xf32>) -> tensor<1xf32>\n"
      "  return %i : tensor<1xf32>\n}";
  // 1.0078125 ^ 2 is 1.01568603515625, a little more than 1.015625.
  const Spread near =
      graph(text)
          .run({Tensor({3}, {1.0078125, 1.015625, 0}), Tensor({3}, {1.0078125, 1, 1})})
          .front();
  EXPECT_EQ(near.exact().values[0], 0);
  EXPECT_EQ(near.moved()[0], 1);
  const Spread far =
      evaluator->run({Tensor({3}, {1.0078125, 1, 0}), Tensor({3}, {1.0078125, 0.5, 1})}).front();
  EXPECT_EQ(far.moved()[0], 0);
}

TEST_F(Evaluated, PoisonsSums) {
  const Spread y =
      graph("func.func @main(%x: tensor<2x2xf32>) -> tensor<2xf32> {\n"
            "  %y = sluice.reduce sum %x axes [1] : (tensor<2x2xf32>) -> tensor<2xf32>\n"
            "  return %y : tensor<2xf32>\n}")
          .run({Tensor({2, 2}, {1, kInfinity, 1, 2})})
          .front();
  EXPECT_EQ(y.exact().values[0], kInfinity);
  EXPECT_TRUE(std::isnan(y.variants[1]->values[0]));
  // Both rows may lie in one row of the machine.
  EXPECT_THAT(y.variants[1]->values[1], 3);
  EXPECT_THAT(y.moved(), ElementsAre(kInfinity, kInfinity));
}

/// The maximum of a row with an infinity is finite, and the other rows are as they were: so are the
/// scores of an attention behind a mask.
TEST_F(Evaluated, KeepsMaximaOfMaskedRows) {
  const Spread y = graph("func.func @main(%x: tensor<2x2xf32>) -> tensor<2x1xf32> {\n"
                         "  %y = sluice.reduce max %x axes [1] keepdims : (tensor<2x2xf32>) -> "
                         "tensor<2x1xf32>\n"
                         "  return %y : tensor<2x1xf32>\n}")
                       .run({Tensor({2, 2}, {1, -kInfinity, 1, 2})})
                       .front();
  EXPECT_THAT(y.moved(), Each(0));
}

/// The compiler puts constants in their places, and no sum does.
TEST_F(Evaluated, KeepsElementsBesideInfiniteConstants) {
  const Spread y =
      graph("func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {\n"
            "  %y = sluice.pad %x low [1] high [1] value 0xFF800000 : (tensor<2xf32>) -> "
            "tensor<4xf32>\n"
            "  return %y : tensor<4xf32>\n}")
          .run({Tensor({2}, {1, 2})})
          .front();
  EXPECT_THAT(y.moved(), Each(0));
}

/// A view moves elements from lane to lane by sums, which an infinity that it reads makes NaN.
TEST_F(Evaluated, PoisonsViewsThatReadAnInfinity) {
  const auto movedBy = [&](const std::string &start) {
    return graph("func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {\n"
                 "  %y = sluice.slice %x starts [" +
                 start +
                 "] sizes [2] steps [1] : "
                 "(tensor<4xf32>) -> tensor<2xf32>\n  return %y : tensor<2xf32>\n}")
        .run({Tensor({4}, {1, 2, 3, kInfinity})})
        .front()
        .moved();
  };
  EXPECT_THAT(movedBy("0"), ElementsAre(0, 0));
  EXPECT_THAT(movedBy("2"), Each(kInfinity));
}

/// An infinity that the model multiplies by nothing: the weights between groups are zeros.
TEST_F(Evaluated, DoesNotDemandNaNOfZeroWeights) {
  const Spread y =
      graph("func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {\n"
            "  %w = sluice.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>\n"
            "  %y = sluice.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> "
            "tensor<1x2xf32>\n"
            "  return %y : tensor<1x2xf32>\n}")
          .run({Tensor({1, 2}, {1, kInfinity})})
          .front();
  EXPECT_TRUE(std::isnan(y.exact().values[0]));
  EXPECT_THAT(y.moved(), Each(kInfinity));
}

TEST_F(Evaluated, TakesElementsBeyondTheRangeForEqual) {
  Evaluator &most = graph("func.func @main(%x: tensor<3xf32>) -> tensor<1xf32> {\n"
                          "  %s = sluice.map (%a = %x) : (tensor<3xf32>) -> tensor<3xf32> {\n"
                          "    %r = arith.mulf %a, %a : f32\n    sluice.yield %r\n  }\n"
                          "  %y = sluice.reduce argmax %s axes [0] keepdims : (tensor<3xf32>) -> "
                          "tensor<1xf32>\n  return %y : tensor<1xf32>\n}");
  EXPECT_THAT(most.run({Tensor({3}, {1, 4, 2})}).front().moved(), Each(0));
  EXPECT_THAT(most.run({Tensor({3}, {0x1p70, 0x1p72, 0x1p71})}).front().moved(), Each(1));
}

/// A product far below the largest that the operands allow may be truncated to 0.
TEST_F(Evaluated, TruncatesSmallProducts) {
  const Spread y = graph("func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {\n"
                         "  %w = sluice.constant dense<[[1.0, 8.8817841970012523e-16], [0.5, "
                         "0.0]]> : tensor<2x2xf32>\n"
                         "  %y = sluice.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> "
                         "tensor<1x2xf32>\n"
                         "  return %y : tensor<1x2xf32>\n}")
                       .run({Tensor({1, 2}, {1, 0})})
                       .front();
  EXPECT_EQ(y.moved()[0], 0);
  EXPECT_GT(y.moved()[1], 0x1p-50);
}

/// An index among elements of which nothing is known may be any.
TEST_F(Evaluated, ChoosesAnyUnspecifiedElement) {
  Evaluator &most =
      graph("func.func @main(%x: tensor<2x1xf32>, %w: tensor<1x2xf32>) -> tensor<1x2xf32> {\n"
            "  %s = sluice.map (%a = %x) : (tensor<2x1xf32>) -> tensor<2x1xf32> {\n"
            "    %r = math.cosh %a : f32\n    sluice.yield %r\n  }\n"
            "  %p = sluice.matmul %s, %w : (tensor<2x1xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>\n"
            "  %y = sluice.reduce argmax %p axes [0] keepdims : (tensor<2x2xf32>) -> "
            "tensor<1x2xf32>\n  return %y : tensor<1x2xf32>\n}");
  const Spread y = most.run({Tensor({2, 1}, {200, 201}), Tensor({1, 2}, {-1, -2})}).front();
  EXPECT_THAT(y.moved(), Each(testing::Gt(0)));
}

/// What rounding makes NaN in one direction is not a number in comparisons either.
TEST_F(Evaluated, ComparesWhatIsNotFinite) {
  const Spread y = graph("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                         "  %v = sluice.slice %x starts [1] sizes [2] steps [-1] : (tensor<2xf32>) "
                         "-> tensor<2xf32>\n"
                         "  %y = sluice.map (%a = %v) : (tensor<2xf32>) -> tensor<2xf32> {\n"
                         "    %c = arith.constant 0.3 : f32\n    %s = arith.mulf %a, %c : f32\n"
                         "    %n = arith.cmpf uno, %s, %s : f32\n"
                         "    %r = arith.uitofp %n : i1 to f32\n    sluice.yield %r\n  }\n"
                         "  return %y : tensor<2xf32>\n}")
                       .run({Tensor({2}, {0.7, kInfinity})})
                       .front();
  EXPECT_THAT(y.exact().values, Each(0));
  EXPECT_THAT(y.moved(), Each(kInfinity));
}

TEST_F(Evaluated, KnowsNothingOfASelectionByANumberThatMayBeNaN) {
  // The reversal may make both elements NaN. Selected are then the constant, or NaN.
  const Spread y = graph("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                         "  %v = sluice.slice %x starts [1] sizes [2] steps [-1] : (tensor<2xf32>) "
                         "-> tensor<2xf32>\n"
                         "  %y = sluice.map (%a = %v) : (tensor<2xf32>) -> tensor<2xf32> {\n"
                         "    %c = arith.constant 0.5 : f32\n"
                         "    %n = arith.cmpf olt, %a, %c : f32\n"
                         "    %r = arith.select %n, %c, %a : f32\n    sluice.yield %r\n  }\n"
                         "  return %y : tensor<2xf32>\n}")
                       .run({Tensor({2}, {0.75, kInfinity})})
                       .front();
  EXPECT_EQ(y.exact().values[1], 0.75);
  EXPECT_EQ(y.moved()[1], kInfinity);
}

TEST_F(Evaluated, MovesElementsInFrontOfMapsIfTheLayoutDoes) {
  const std::string text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                           "  %y = sluice.map (%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {\n"
                           "    %r = math.erf %a : f32\n    sluice.yield %r\n  }\n"
                           "  return %y : tensor<2xf32>\n}";
  const Tensor x({2}, {0, kInfinity});
  EXPECT_EQ(graph(text).run({x}).front().moved()[0], 0);
  EXPECT_THAT(graph(text, {true, {}, {}}).run({x}).front().moved(), Each(kInfinity));
  EXPECT_EQ(graph(text, {true, {}, {}}).run({Tensor({2}, {0, 1})}).front().moved()[0], 0);
}

TEST_F(Evaluated, KnowsNothingOfAProductWhoseWeightsAreNotFinite) {
  const std::string text =
      "func.func @main(%x: tensor<2x1xf32>) -> tensor<2x2xf32> {\n"
      "  %w = sluice.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>\n"
      "  %y = sluice.matmul %x, %w : (tensor<2x1xf32>, tensor<1x2xf32>) -> tensor<2x2xf32> "
      "loc(fused<#sluice.node<7, \"y\", \"MatMul\">>[\"y\"])\n"
      "  return %y : tensor<2x2xf32>\n}";
  const Tensor x({2, 1}, {1, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(graph(text).run({x}).front().moved()[2], 0);
  EXPECT_EQ(graph(text, dynamicAt(6)).run({x}).front().moved()[2], 0);
  EXPECT_THAT(graph(text, dynamicAt(7)).run({x}).front().moved(), Each(kInfinity));
  const Tensor finite({2, 1}, {1, 2});
  EXPECT_THAT(graph(text, dynamicAt(7)).run({finite}).front().moved(), Each(0));
}

TEST_F(Evaluated, RoundsMeansOfExactSums) {
  const auto moved = [&](const std::string &count, const Tensor &x) {
    return graph("func.func @main(%x: tensor<" + count + "xf32>) -> tensor<1xf32> {\n" +
                 "  %y = sluice.reduce mean %x axes [0] keepdims : (tensor<" + count +
                 "xf32>) -> tensor<1xf32>\n  return %y : tensor<1xf32>\n}")
        .run({x})
        .front()
        .moved()[0];
  };
  // A third is no number of fp32, a quarter is one.
  EXPECT_GT(moved("3", Tensor({3}, {3, 3, 3})), 0);
  EXPECT_EQ(moved("4", Tensor({4}, {3, 3, 3, 3})), 0);
}

TEST_F(Evaluated, CarriesStatesAndForgetsThemAtAReset) {
  Evaluator &sum = graph(
      "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
      "  %s = sluice.state : tensor<1xf32>\n"
      "  %n = sluice.map (%a = %s, %b = %x) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "
      "{\n    %r = arith.addf %a, %b : f32\n    sluice.yield %r\n  }\n"
      "  %k = sluice.keep %n in %s : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>\n"
      "  return %k : tensor<1xf32>\n}");
  EXPECT_EQ(sum.run({Tensor({1}, {256})}).front().exact().values[0], 256);
  const Spread second = sum.run({Tensor({1}, {1})}).front();
  EXPECT_EQ(second.exact().values[0], 257);
  EXPECT_EQ(second.moved()[0], 1); // to 256 or 258
  sum.reset();
  EXPECT_EQ(sum.run({Tensor({1}, {3})}).front().exact().values[0], 3);
}

TEST_F(Evaluated, RunsLoopsInAllVariants) {
  const Spread y =
      graph("func.func @main(%x: tensor<4x1xf32>) -> tensor<1xf32> {\n"
            "  %zero = sluice.constant dense<0.0> : tensor<1xf32>\n"
            "  %h = sluice.loop 4 carry (%s = %zero : tensor<1xf32>)\n"
            "      slice (%e = %x axis 0 : tensor<4x1xf32>) -> (tensor<1xf32>) {\n"
            "    %n = sluice.map (%a = %s, %b = %e) : (tensor<1xf32>, tensor<1xf32>) -> "
            "tensor<1xf32> {\n      %r = arith.addf %a, %b : f32\n      sluice.yield %r\n    }\n"
            "    sluice.next %n : tensor<1xf32>\n  }\n  return %h : tensor<1xf32>\n}")
          .run({Tensor({4, 1}, {256, 1, 1, 1})})
          .front();
  EXPECT_EQ(y.exact().values[0], 259);
  EXPECT_EQ(y.variants[2]->values[0], 262); // upwards, each step
  EXPECT_EQ(y.variants[3]->values[0], 256); // downwards
}

TEST_F(Evaluated, TapsTheValuesOnTheWay) {
  Evaluator &twice =
      graph("func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {\n"
            "  %t = sluice.transpose %x [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
            "  %y = sluice.reduce max %t axes [0] : (tensor<3x2xf32>) -> tensor<2xf32>\n"
            "  return %y : tensor<2xf32>\n}");
  std::vector<reference::Shape> shapes;
  twice.tap = [&](mlir::Value, const Spread &spread) { shapes.push_back(spread.exact().shape); };
  twice.run({Tensor({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_THAT(shapes,
              ElementsAre(reference::Shape{2, 3}, reference::Shape{3, 2}, reference::Shape{2}));
}

} // namespace
} // namespace sluice::check
