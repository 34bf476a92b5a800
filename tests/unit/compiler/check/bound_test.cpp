#include "compiler/check/bound.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::check {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Spread spread(const std::vector<std::vector<double>> &variants) {
  Spread result;
  for (const std::vector<double> &values : variants)
    result.variants.push_back(std::make_shared<const reference::Tensor>(
        reference::Shape{static_cast<int64_t>(values.size())}, values));
  return result;
}

TEST(Bound, IsThriceWhatRoundingMovesAndAtLeastThriceTheUsual) {
  // The root of the mean square of 3, 4, 0 and 0 is 2.5.
  const std::vector<double> exact{0, 50, 60, 100};
  EXPECT_THAT(boundsOf(std::vector<double>{3, 4, 0, 0}, exact),
              ElementsAre(DoubleEq(9), DoubleEq(12), DoubleEq(7.5), DoubleEq(7.5)));
  EXPECT_THAT(boundsOf(std::vector<double>{0, 0, 0, 0}, exact), Each(0));
  // Unchecked elements say nothing about the others.
  EXPECT_THAT(boundsOf(std::vector<double>{kInfinity, 1, 1, 11}, exact),
              ElementsAre(DoubleEq(kInfinity), DoubleEq(3), DoubleEq(3), DoubleEq(33)));
}

TEST(Bound, ScalesByTheRangeOrTheMagnitude) {
  EXPECT_EQ(scaleOf(std::vector<double>{-1, 3, kNaN, kInfinity}), 4);
  EXPECT_EQ(scaleOf(std::vector<double>{100, 101}), 101); // nearly constant
  EXPECT_EQ(scaleOf(std::vector<double>{-5}), 5);
  EXPECT_EQ(scaleOf(std::vector<double>{kNaN}), 0);
}

TEST(Bound, TakesTheLargestMovement) {
  EXPECT_THAT(spread({{1, 2}, {1, 2.5}, {0.75, 2}}).moved(), ElementsAre(0.25, 0.5));
  // An infinity that an overflow to bf16 explains moves nothing.
  EXPECT_THAT(spread({{1e39, kNaN}, {kInfinity, kNaN}}).moved(), ElementsAre(0, 0));
  EXPECT_THAT(spread({{1, kInfinity}, {kNaN, kNaN}}).moved(), ElementsAre(kInfinity, kInfinity));
}

TEST(Bound, AcceptsWhatIsWithin) {
  const Spread wanted = spread({{0, 10, 20}, {0.1, 10, 20.1}});
  const Judgement good = judge(std::vector<double>{0.2, 10.1, 20}, wanted);
  EXPECT_EQ(good.elements, 3U);
  EXPECT_EQ(good.unchecked, 0U);
  EXPECT_EQ(good.beyond, 0U);
  EXPECT_DOUBLE_EQ(good.largestError, 0.01);
  EXPECT_FALSE(good.worst);
}

TEST(Bound, NamesTheElementThatIsFarthestBeyond) {
  const Spread wanted = spread({{0, 10, 20}, {0.1, 10, 20.1}});
  const Judgement bad = judge(std::vector<double>{0.5, 12, 20}, wanted);
  EXPECT_EQ(bad.beyond, 2U);
  ASSERT_TRUE(bad.worst);
  EXPECT_EQ(bad.worst->element, 1U);
  EXPECT_EQ(bad.worst->found, 12);
  EXPECT_EQ(bad.worst->wanted, 10);
  EXPECT_EQ(judge(std::vector<double>{kNaN, 10, 20}, wanted).beyond, 1U);
  EXPECT_EQ(judge(std::vector<double>{0, kInfinity, 20}, wanted).beyond, 1U);
}

TEST(Bound, LeavesUncheckedWhatRoundingAloneMoves) {
  // 1.5 is more than 10 % of the range.
  const Spread wanted = spread({{0, 5, 10}, {0, 6.5, 10}});
  const Judgement judgement = judge(std::vector<double>{0, 100, 10}, wanted);
  EXPECT_EQ(judgement.unchecked, 1U);
  EXPECT_EQ(judgement.beyond, 0U);
}

/// A mean of equal elements is off by what fp32 rounds, and so is its distance from them, which is
/// 0 in exact arithmetic.
TEST(Bound, AllowsTheNoiseOfInputs) {
  const Spread wanted = spread({{0, 0}, {0, 0}});
  const double noise = noiseOf({reference::Tensor({2}, {-3, 1})});
  EXPECT_EQ(noise, 0x3p-24);
  EXPECT_EQ(judge(std::vector<double>{0, 1e-9}, wanted).beyond, 1U);
  EXPECT_EQ(judge(std::vector<double>{0, 1e-9}, wanted, noise).beyond, 0U);
  EXPECT_EQ(judge(std::vector<double>{0, 1e-6}, wanted, noise).beyond, 1U);
}

/// `relu(x + 1) + x` is one table on the machine, but three exact functions for the evaluator.
TEST(Bound, AllowsTheNeighbour) {
  const Spread wanted = spread({{129, 0}, {129, 0}});
  EXPECT_EQ(judge(std::vector<double>{128, 0}, wanted).beyond, 0U);
  EXPECT_EQ(judge(std::vector<double>{130, 0}, wanted).beyond, 0U);
  EXPECT_EQ(judge(std::vector<double>{131, 0}, wanted).beyond, 1U);
  EXPECT_EQ(judge(std::vector<double>{129, 1e-9}, wanted).beyond, 1U);
}

TEST(Bound, DemandsWhatAllVariantsAgreeIsNoNumber) {
  const Spread wanted = spread({{kNaN, kInfinity, 1}, {kNaN, kInfinity, 1}});
  EXPECT_EQ(judge(std::vector<double>{kNaN, kInfinity, 1}, wanted).beyond, 0U);
  EXPECT_EQ(judge(std::vector<double>{kNaN, kNaN, 1}, wanted).beyond, 0U); // poisoned
  EXPECT_EQ(judge(std::vector<double>{0, kInfinity, 1}, wanted).beyond, 1U);
  EXPECT_EQ(judge(std::vector<double>{kNaN, -kInfinity, 1}, wanted).beyond, 1U);
  EXPECT_EQ(judge(std::vector<double>{kNaN, 3e38, 1}, wanted).beyond, 1U);
}

} // namespace
} // namespace sluice::check
