// Reductions over lanes and beats: against exact sums, and the corner cases by hand.
#include "hw/numerics/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <vector>

#include "hw/numerics/numerics.h"
#include "tests/unit/hw/numerics/operands.h"

namespace sluice::numerics {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
using Rows = std::vector<std::vector<float>>;

float reduce(isa::Reduce kind, const Rows &rows) {
  Reduction reduction;
  uint32_t result = 0;
  for (const std::vector<float> &row : rows) {
    std::vector<uint32_t> bits;
    std::ranges::transform(row, std::back_inserter(bits), toBits);
    result = reduction.add(kind, bits);
  }
  return toFloat(result);
}
float sum(const Rows &rows) { return reduce(isa::Reduce::Sum, rows); }
float argmax(const Rows &rows) { return reduce(isa::Reduce::Argmax, rows); }

TEST(ReduceSum, IsExactWhereFp32IsNot) {
  EXPECT_EQ(sum({{0x1p24F, 1, 1, -0x1p24F}}), 2);
  EXPECT_EQ(sum({{0x1p24F, 1}, {1, -0x1p24F}}), 2);
  EXPECT_EQ(sum({{1, 0x1p-24F, 0x1p-24F, 0}}), 1 + 0x1p-23F); // fp32, one by one: 1
  EXPECT_EQ(sum({{0.5F, -0.5F, -0.0F, -0.0F}}), 0);
  EXPECT_FALSE(std::signbit(sum({{-0.0F, -0.0F}})));
}

TEST(ReduceSum, RoundsToNearestEven) {
  EXPECT_EQ(sum({{1, 0x1p-24F}}), 1);
  EXPECT_EQ(sum({{1 + 0x1p-23F, 0x1p-24F}}), 1 + 0x1p-22F);
  EXPECT_EQ(sum({{-1, -0x1p-24F, -0x1p-30F, 0}}), -1 - 0x1p-23F);
}

TEST(ReduceSum, Limits) {
  EXPECT_EQ(sum({{0x1p127F, 0x1p127F}}), kInf);
  EXPECT_EQ(sum({{0x1p127F, 0x1p127F}, {-0x1p127F, 0}}), 0x1p127F); // only the result rounds
  EXPECT_EQ(sum({{0x1p-126F, -0x1.8p-126F}}), 0);
  EXPECT_TRUE(std::signbit(sum({{0x1p-126F, -0x1.8p-126F}})));
  EXPECT_EQ(sum({{0x1p-149F, 0}}), 0); // a denormal counts as zero
  EXPECT_EQ(sum({{kInf, 1}, {-5, 2}}), kInf);
  EXPECT_EQ(sum({{1, -kInf}, {-5, 2}}), -kInf);
  EXPECT_TRUE(std::isnan(sum({{kInf, 1}, {-kInf, 2}})));
  EXPECT_TRUE(std::isnan(sum({{kNaN, 1}, {1, 2}})));
}

/// Any order of the lanes gives the same bits; the error against the exact sum is
/// below that of fp32 additions one by one.
TEST(ReduceSum, OrderOfLanesAndError) {
  testing::Operands operands(5);
  double worst = 0, worstFp32 = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    operands.spread = trial % 2 ? 12 : 40;
    Rows rows(32, std::vector<float>(32));
    double exact = 0, magnitudes = 0; // exact: the exponents span less than 53 bits
    float fp32 = 0;
    for (std::vector<float> &row : rows)
      for (float &value : row) {
        value = toFloat(uint32_t{operands.bf16(true)} << 16);
        if (std::fabs(value) < 0x1p-25F || std::fabs(value) > 0x1p20F)
          value = 1;
        exact += value;
        magnitudes += std::fabs(value);
        fp32 += value;
      }
    const float result = sum(rows);
    worst = std::max(worst, std::fabs(result - exact) / magnitudes);
    worstFp32 = std::max(worstFp32, std::fabs(fp32 - exact) / magnitudes);
    for (std::vector<float> &row : rows)
      std::ranges::shuffle(row, operands.engine);
    ASSERT_EQ(sum(rows), result);
  }
  std::cout << "worst error / sum of |x| over 2000 sums of 1024: ours 2^" << std::log2(worst)
            << ", fp32 one by one 2^" << std::log2(worstFp32) << "\n";
  EXPECT_LT(worst, 0x1p-24);
  EXPECT_LT(worst, worstFp32);
}

TEST(ReduceArgmax, FirstOfTheLargest) {
  EXPECT_EQ(argmax({{1, 3, 3, 2}}), 1);
  EXPECT_EQ(argmax({{1, 3, 3, 2}, {3, 0, 0, 0}}), 1);
  EXPECT_EQ(argmax({{1, 3, 3, 2}, {3, 0, 4, 0}, {4, 4, 4, 4}}), 6);
  EXPECT_EQ(argmax({{-3, -2, -kInf, -2}}), 1);
  EXPECT_EQ(argmax({{-kInf, -kInf}}), 0);
}

TEST(ReduceArgmax, ZerosAreEqualAndTheFirstNaNWins) {
  EXPECT_EQ(argmax({{-1, -0.0F, 0.0F, 0x1p-149F}}), 1);
  EXPECT_EQ(argmax({{kInf, kNaN, 5, -kNaN}}), 1);
  EXPECT_EQ(argmax({{kInf, 1}, {0, -kNaN}, {kNaN, 0}}), 3);
}

} // namespace
} // namespace sluice::numerics
