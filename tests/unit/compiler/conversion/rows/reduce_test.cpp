// Reductions along and off the data dimension, and softmax made of them.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "harness.h"

#include "compiler/support/problem.h"

namespace sluice::rows::test {
namespace {

std::string tensor(const std::string &shape, int dim) {
  return "tensor<" + shape + "xbf16, #sluice.dim<" + std::to_string(dim) + ">>";
}

std::string reduction(const std::string &monoid, const std::string &in, const std::string &axes,
                      const std::string &out, bool keepdims = true) {
  return "func.func @main(%x: " + in + ") -> " + out + " {\n  %y = sluice.reduce " + monoid +
         " %x axes [" + axes + "]" + (keepdims ? " keepdims" : "") + " : (" + in + ") -> " + out +
         "\n  return %y : " + out + "\n}";
}

struct Case {
  const char *monoid;
  double low, high, error;
};

class Reduction : public testing::TestWithParam<Case> {};

TEST_P(Reduction, AlongTheDataDimension) {
  const Case &c = GetParam();
  // Extents that divide the 8 lanes, that do not, and several rows.
  for (const std::string extent : {"8", "5", "24", "19", "1"}) {
    Model model(reduction(c.monoid, tensor("3x" + extent, 1), "1", tensor("3x1", 1)));
    ASSERT_TRUE(model.graph) << extent;
    // All positive, all negative and mixed: padding must never win.
    EXPECT_LE(model.error(c.low, c.high), c.error) << extent;
    EXPECT_LE(model.error(c.high, 2 * c.high), c.error) << extent;
    EXPECT_LE(model.error(2 * c.low, c.low), c.error) << extent;
  }
}

TEST_P(Reduction, OffTheDataDimension) {
  const Case &c = GetParam();
  for (const std::string extent : {"1", "2", "3", "7"}) {
    Model model(reduction(c.monoid, tensor(extent + "x11", 1), "0", tensor("1x11", 1)));
    ASSERT_TRUE(model.graph) << extent;
    EXPECT_LE(model.error(c.low, c.high), c.error) << extent;
    Model squeezed(reduction(c.monoid, tensor(extent + "x11", 1), "0", tensor("11", 0), false));
    ASSERT_TRUE(squeezed.graph) << extent;
    EXPECT_LE(squeezed.error(c.low, c.high), c.error) << extent;
  }
}

TEST_P(Reduction, OverEverything) {
  const Case &c = GetParam();
  Model model(reduction(c.monoid, tensor("3x11x2", 1), "0, 1, 2", tensor("1x1x1", 1)));
  ASSERT_TRUE(model.graph);
  EXPECT_LE(model.error(c.low, c.high), c.error);
}

/// [a b!].sum(1) = [a!]: results of different rows move into lanes.
TEST_P(Reduction, ResultMovesIntoLanes) {
  const Case &c = GetParam();
  Model model(reduction(c.monoid, tensor("10x6", 1), "1", tensor("10", 0), false));
  ASSERT_TRUE(model.graph);
  EXPECT_LE(model.error(c.low, c.high), c.error);
}

INSTANTIATE_TEST_SUITE_P(Monoids, Reduction,
                         testing::Values(Case{"sum", -2, 2, 0.004}, Case{"mean", -2, 2, 0.006},
                                         Case{"max", -2, 2, 0}, Case{"min", -2, 2, 0},
                                         Case{"variance", -2, 2, 0.012},
                                         Case{"product", -2, 2, 0.03}, Case{"argmax", -2, 2, 0}),
                         [](const auto &info) { return std::string(info.param.monoid); });

/// 64 deviations from 0 the mean is rounded by up to a quarter of one, of which nothing is left:
/// whatever the rows are, and so the trees of the sums.
TEST(Reductions, VarianceFarFromZero) {
  const double spread = std::sqrt(3.0); // of equally distributed numbers with a deviation of 1
  struct Shape {
    const char *in, *axes, *out;
  };
  for (const auto &[in, axes, out] :
       {Shape{"3x40", "1", "3x1"}, Shape{"2x300", "1", "2x1"}, Shape{"5x8", "1", "5x1"},
        Shape{"50x11", "0", "1x11"}, Shape{"7x3", "0", "1x3"}, Shape{"9x30", "0, 1", "1x1"}}) {
    Model model(reduction("variance", tensor(in, 1), axes, tensor(out, 1)));
    ASSERT_TRUE(model.graph) << in;
    for (const double offset : {0.0, 1.0, 63.0, 64.0, 65.0, -64.0})
      EXPECT_LE(model.error(offset - spread, offset + spread), 0.012) << in << " at " << offset;
  }
}

/// A variance as exporters write it, by one mean: too large by the square of what that is rounded
/// by, 2^-8 of it at most.
TEST(Reductions, VarianceByOneMeanStaysWithinItsBound) {
  const double spread = std::sqrt(3.0);
  double worst = 0;
  for (const auto &[rows, elements, axis] :
       {std::tuple(3, 40, 1), std::tuple(2, 300, 1), std::tuple(50, 11, 0), std::tuple(90, 3, 0)}) {
    const std::string wide = tensor(std::to_string(rows) + "x" + std::to_string(elements), 1),
                      narrow = tensor(axis == 1 ? std::to_string(rows) + "x1"
                                                : "1x" + std::to_string(elements),
                                      1),
                      along = std::to_string(axis);
    Model model("func.func @main(%x: " + wide + ") -> " + narrow + R"( {
      %m = sluice.reduce mean %x axes [)" +
                along + "] keepdims : (" + wide + ") -> " + narrow + R"(
      %b = sluice.broadcast %m : ()" +
                narrow + ") -> " + wide + R"(
      %d = sluice.map (%l = %x, %r = %b) : ()" +
                wide + ", " + wide + ") -> " + wide + R"( {
        %0 = arith.subf %l, %r : f32
        %1 = arith.mulf %0, %0 : f32
        sluice.yield %1
      }
      %y = sluice.reduce mean %d axes [)" +
                along + "] keepdims : (" + wide + ") -> " + narrow + R"(
      return %y : )" +
                narrow + "\n}");
    ASSERT_TRUE(model.graph) << wide;
    for (const double offset : {0.0, 1.0, 63.0, 64.0, 65.0, -64.0}) {
      const double error = model.error(offset - spread, offset + spread),
                   rounded = std::abs(offset) / 256;
      EXPECT_LE(error, rounded * rounded / 0.8 + 0.012) << wide << " at " << offset;
      worst = std::max(worst, error);
    }
  }
  EXPECT_GT(worst, 0.03); // so that a mean more is worth it
}

TEST(Reductions, SumOffTheDataDimensionIsOneProduct) {
  Model model(reduction("sum", tensor("16x8", 1), "0", tensor("1x8", 1)));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 1U);
  EXPECT_EQ(model.graph->blocks.size(), 1U);
}

TEST(Reductions, MaximumTakesThreeRowsAStep) {
  Model model(reduction("max", tensor("9x8", 1), "0", tensor("1x8", 1)));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 4U);
}

/// Lanes are multiplied in log2(8) rounds, one rotation each.
TEST(Reductions, ProductAcrossLanesHalves) {
  Model model(reduction("product", tensor("1x8", 1), "1", tensor("1x1", 1)));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 3U);
  EXPECT_EQ(model.graph->blocks.size(), 3U);
}

TEST(Reductions, RefusesWhatTheMachineLacks) {
  Model model(reduction("logsumexp", tensor("3x8", 1), "1", tensor("3x1", 1)));
  EXPECT_FALSE(model.graph);
  ASSERT_EQ(model.problems.size(), 1U);
  EXPECT_EQ(model.problems[0].code, "E0414");
  EXPECT_EQ(model.problems[0].message,
            "reduce logsumexp must be expanded first; run sluice-expand-reductions");
}

/// One reduction of the vector unit, as long as the elements are in one row.
TEST(Reductions, IndexAcrossLanesIsOneStep) {
  for (const std::string extent : {"8", "5"}) {
    Model model(reduction("argmax", tensor("1x" + extent, 1), "1", tensor("1x1", 1)));
    ASSERT_TRUE(model.graph);
    EXPECT_EQ(model.computed(), 1U);
    EXPECT_EQ(model.error(), 0);
    EXPECT_EQ(model.error(-3, -2), 0);
  }
}

TEST(Reductions, RefusesIndicesBeyondBf16) {
  Model most(reduction("argmax", tensor("1x256", 1), "1", tensor("1x1", 1)));
  ASSERT_TRUE(most.graph);
  EXPECT_EQ(most.error(), 0);
  Model model(reduction("argmax", tensor("1x257", 1), "1", tensor("1x1", 1)));
  EXPECT_FALSE(model.graph);
  ASSERT_EQ(model.problems.size(), 1U);
  EXPECT_EQ(model.problems[0].code, "E0414");
  EXPECT_EQ(
      model.problems[0].message,
      "arg max over 257 elements, allowed: at most 256 (larger indices are not exact in bf16)");
}

std::string softmax(const std::string &extent) {
  const std::string t = tensor("2x" + extent, 1), one = tensor("2x1", 1);
  return "func.func @main(%x: " + t + ") -> " + t + R"( {
    %m = sluice.reduce max %x axes [1] keepdims : ()" +
         t + ") -> " + one + R"(
    %mb = sluice.broadcast %m : ()" +
         one + ") -> " + t + R"(
    %e = sluice.map (%l = %x, %r = %mb) : ()" +
         t + ", " + t + ") -> " + t + R"( {
      %0 = arith.subf %l, %r : f32
      %1 = math.exp %0 : f32
      sluice.yield %1
    }
    %s = sluice.reduce sum %e axes [1] keepdims : ()" +
         t + ") -> " + one + R"(
    %sb = sluice.broadcast %s : ()" +
         one + ") -> " + t + R"(
    %y = sluice.map (%l = %e, %r = %sb) : ()" +
         t + ", " + t + ") -> " + t + R"( {
      %0 = arith.divf %l, %r : f32
      sluice.yield %0
    }
    return %y : )" +
         t + "\n}";
}

/// The accumulator has 48 bits. A product has 16, is aligned by up to 7 and has 11 below it: it
/// takes 2^13 products of the largest significands, and twice as many where one is that of 1.
TEST(Sum, OfSoManyElementsThatAnAccumulatorOverflowsIsOneOfSums) {
  constexpr uint32_t kLanes = 64;
  const auto largest = [](const Graph &graph) {
    size_t most = 0;
    for (const Row &row : graph.rows)
      most = std::max(most, row.terms.size());
    return most * kLanes;
  };
  Model few(reduction("sum", tensor("1x14000", 1), "1", tensor("1x1", 1)), kLanes);
  ASSERT_TRUE(few.graph);
  EXPECT_EQ(few.count(RowKind::Linear), 1U);
  Model many(reduction("sum", tensor("1x20000", 1), "1", tensor("1x1", 1)), kLanes);
  ASSERT_TRUE(many.graph);
  EXPECT_EQ(many.count(RowKind::Linear), 3U);
  EXPECT_LT(largest(*many.graph), 1U << 14);
  EXPECT_LE(many.error(3.9, 4), 0.01);
}

/// Logits far below zero: without a mask, exp(0 - max) of the padding is
/// infinite and poisons the sum.
TEST(Softmax, IsRightForEveryExtent) {
  for (const std::string extent : {"8", "5", "16", "11", "2", "1"}) {
    Model model(softmax(extent));
    ASSERT_TRUE(model.graph) << extent;
    EXPECT_LT(model.error(-5, 5), 0.02) << extent;
    EXPECT_LT(model.error(-300, -200), 0.02) << extent;
    EXPECT_LT(model.error(200, 300), 0.02) << extent;
  }
}

TEST(Softmax, IsThreeRowsPerRow) {
  Model model(softmax("8"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 2U * 3);
  Model partial(softmax("5"));
  ASSERT_TRUE(partial.graph);
  EXPECT_EQ(partial.computed(), 2U * 3);
}

} // namespace
} // namespace sluice::rows::test
