// What is known of a block of weights.
#include <gtest/gtest.h>

#include "compiler/conversion/rows/weight_block.h"

namespace sluice::rows::test {
namespace {

constexpr uint16_t kOne = 0x3F80, kMinusZero = 0x8000, kDenormal = 0x0001, kInfinity = 0x7F80,
                   kNaN = 0x7FC0;

TEST(WeightBlock, ZerosAreThoseOfTheMachine) {
  EXPECT_TRUE(WeightBlock({0, 0, 0, 0}).isZero());
  EXPECT_TRUE(WeightBlock({0, kMinusZero, kDenormal, 0}).isZero());
  EXPECT_FALSE(WeightBlock({0, 0, 0, kOne}).isZero());
  EXPECT_FALSE(WeightBlock({kNaN, 0, 0, 0}).isZero());
}

TEST(WeightBlock, MemoryIsClearedToPositiveZeros) {
  EXPECT_TRUE(WeightBlock({0, 0, 0, 0}).isCleared());
  EXPECT_FALSE(WeightBlock({0, kMinusZero, 0, 0}).isCleared());
  EXPECT_FALSE(WeightBlock({0, 0, kDenormal, 0}).isCleared());
}

TEST(WeightBlock, OneWeightMakesItInfinite) {
  EXPECT_TRUE(WeightBlock({kOne, kDenormal, 0, kMinusZero}).isFinite());
  EXPECT_FALSE(WeightBlock({kOne, kInfinity, 0, 0}).isFinite());
  EXPECT_FALSE(WeightBlock({kOne, 0, 0, kNaN}).isFinite());
}

TEST(WeightBlock, WeighsItsHeaviestOutputLane) {
  constexpr uint16_t kMinusThree = 0xC040, kJustBelowTwo = 0x3FFF;
  EXPECT_EQ(WeightBlock({0, kDenormal, kMinusZero, 0}).weight(), 0U);
  EXPECT_EQ(WeightBlock({kOne, 0, kMinusThree, kOne}).weight(), 192U + 128);
  EXPECT_EQ(WeightBlock({kJustBelowTwo, kJustBelowTwo, kOne, kOne}).weight(), 510U);
}

TEST(WeightBlock, EqualWeightsAreOneBlock) {
  const WeightBlock block({kOne, 0, 0, kOne}), copy = block, same({kOne, 0, 0, kOne}),
                                               other({kOne, 0, 0, kNaN}), zero({0, 0, 0, 0}),
                                               minus({0, 0, 0, kMinusZero});
  EXPECT_EQ(&copy.elements(), &block.elements()); // shared
  EXPECT_NE(&same.elements(), &block.elements());
  for (const WeightBlock &equal : {copy, same}) {
    EXPECT_EQ(equal, block);
    EXPECT_EQ(equal.hash(), block.hash());
    EXPECT_FALSE(equal < block || block < equal);
  }
  EXPECT_NE(other, block);
  EXPECT_NE(other < block, block < other);
  EXPECT_NE(zero, minus); // memory has the bits
}

} // namespace
} // namespace sluice::rows::test
