// Rounding to bf16 against the machine's own.
#include "compiler/check/rounding.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "hw/numerics/numerics.h"

namespace sluice::check {
namespace {

using Direction = Rounding::Direction;

double machine(double value) { return numerics::bf16ToDouble(numerics::roundToBf16(value)); }

/// Of all magnitudes, those at the ends of the range among them.
std::vector<double> samples() {
  std::mt19937_64 random(1);
  std::vector<double> values{0.0,     -0.0,     1.0,      0x1.01p0,     0x1.03p0,     0x1.FFp127,
                             0x1p128, 0x1p-126, 0x1p-127, -0x1.FFp-127, 0x1.FFFFp-127};
  std::uniform_real_distribution<double> significand(-2, 2);
  std::uniform_int_distribution<int> exponent(-130, 130);
  for (int i = 0; i < 100'000; ++i)
    values.push_back(std::ldexp(significand(random), exponent(random)));
  return values;
}

TEST(Rounding, IsTheMachinesToNearest) {
  for (const double value : samples()) {
    EXPECT_EQ(nearestBf16(value), machine(value)) << value;
    EXPECT_EQ(std::signbit(nearestBf16(value)), std::signbit(machine(value))) << value;
  }
  EXPECT_TRUE(std::isnan(nearestBf16(std::numeric_limits<double>::quiet_NaN())));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(nearestBf16(-kInfinity), -kInfinity);
}

TEST(Rounding, EnclosesTheNumberBetweenUpAndDown) {
  Rounding up(Direction::Up), down(Direction::Down), random(Direction::Random, 3);
  int unrounded = 0;
  for (const double value : samples()) {
    const double high = up(value), low = down(value), any = random(value);
    const bool isNormal = std::abs(value) >= 0x1p-126 && std::abs(value) < 0x1p128;
    EXPECT_TRUE(!isNormal || (low <= value && value <= high)) << value;
    EXPECT_TRUE(any == low || any == high || (any == value && isNormal)) << value;
    unrounded += any == value && low != high ? 1 : 0;
    EXPECT_TRUE(nearestBf16(value) == low || nearestBf16(value) == high) << value;
    if (std::isfinite(low) && std::isfinite(high) && isNormal && low != high)
      EXPECT_LE(high - low, spacingOfBf16(value)) << value;
    EXPECT_EQ(machine(value) == value && low == value, high == value) << value;
  }
  EXPECT_NEAR(unrounded, 25'000, 1'000);
}

/// Every finite constant stays finite, whether the tensor is one of normal fp32 numbers or not.
TEST(Rounding, RoundsConstantsLikeOtherNumbers) {
  std::vector<double> normal, others = samples();
  for (const double value : others)
    if (const auto narrow = static_cast<float>(value);
        narrow == 0 || (std::abs(narrow) >= 0x1p-126F && std::isfinite(narrow)))
      normal.push_back(narrow);
  normal.push_back(std::numeric_limits<float>::max());
  normal.push_back(-std::numeric_limits<float>::max());
  others.push_back(std::numeric_limits<double>::infinity());
  for (const std::vector<double> &values : {normal, others})
    for (const Direction direction : {Direction::Nearest, Direction::Up, Direction::Down}) {
      const reference::Tensor from({static_cast<int64_t>(values.size())}, values);
      const auto rounded = Rounding(direction).roundedConstant(from);
      ASSERT_TRUE(rounded);
      for (size_t i = 0; i < values.size(); ++i) {
        double wanted = Rounding(direction)(values[i]);
        if (std::isinf(wanted) && std::isfinite(values[i]))
          wanted = std::copysign(0x1.FEp127, wanted);
        EXPECT_EQ(rounded->values[i], wanted) << values[i];
        EXPECT_EQ(std::signbit(rounded->values[i]), std::signbit(wanted)) << values[i];
      }
    }
  EXPECT_FALSE(Rounding(Direction::Up).roundedConstant({{3}, {0.0, -1.5, 3.0}}));
}

TEST(Rounding, ChoosesByItsDirection) {
  EXPECT_EQ(Rounding(Direction::Nearest).choice(), 0);
  EXPECT_EQ(Rounding(Direction::Up).choice(), 1);
  EXPECT_EQ(Rounding(Direction::Down).choice(), -1);
  Rounding random(Direction::Random, 5);
  double low = 1, high = -1;
  for (int i = 0; i < 1000; ++i) {
    const double one = random.choice();
    low = std::min(low, one);
    high = std::max(high, one);
  }
  EXPECT_LT(low, -0.9);
  EXPECT_GT(high, 0.9);
}

} // namespace
} // namespace sluice::check
