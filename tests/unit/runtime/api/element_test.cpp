// Number conversions against definitions that share nothing with them.
#include "runtime/api/element.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

/// Nearest bf16 by comparing distances, ties to the even pattern.
uint16_t nearestBf16(double value) {
  const auto below =
      static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
  uint16_t best = below;
  for (int step : {-1, 1}) {
    const auto other = static_cast<uint16_t>(below + step);
    const double a = std::abs(double{floatFromBf16(other)} - value);
    const double b = std::abs(double{floatFromBf16(best)} - value);
    if (a < b || (a == b && other % 2 == 0))
      best = other;
  }
  return best;
}

TEST(Element, FloatAndDoubleRoundToNearestEven) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const double value = std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random),
                                    static_cast<int>(random() % 240) - 120);
    ASSERT_EQ(bf16FromDouble(value), nearestBf16(value)) << value;
    const auto narrow = static_cast<float>(value);
    ASSERT_EQ(bf16FromFloat(narrow), nearestBf16(double{narrow})) << narrow;
  }
}

TEST(Element, DoubleIsRoundedOnce) {
  // Just above a tie: through float it would become the tie and round down.
  EXPECT_EQ(bf16FromDouble(1.0 + 0x1p-8 + 0x1p-40), 0x3F81);
  EXPECT_EQ(bf16FromDouble(1.0 + 0x1p-8), 0x3F80);
  EXPECT_EQ(bf16FromDouble(-(1.0 + 0x1p-8 + 0x1p-40)), 0xBF81);
  EXPECT_EQ(bf16FromDouble(1.0 + 0x3p-8 - 0x1p-40), 0x3F81);
  EXPECT_EQ(bf16FromDouble(1e300), 0x7F80);
  EXPECT_EQ(bf16FromDouble(-1e-300), 0x8000);
}

TEST(Element, SpecialValuesStay) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bf16FromFloat(-0.0F), 0x8000);
  EXPECT_EQ(bf16FromFloat(inf), 0x7F80);
  EXPECT_EQ(bf16FromFloat(-inf), 0xFF80);
  EXPECT_EQ(bf16FromFloat(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(floatFromBf16(bf16FromFloat(std::bit_cast<float>(0x7F800001U)))));
  EXPECT_TRUE(std::isnan(floatFromBf16(bf16FromDouble(std::nan("")))));
  EXPECT_EQ(halfFromFloat(65520.0F), 0x7C00);
  EXPECT_EQ(halfFromFloat(65519.0F), 0x7BFF);
  EXPECT_EQ(halfFromFloat(-0.0F), 0x8000);
  EXPECT_EQ(halfFromFloat(0x1p-24F), 1);
  EXPECT_EQ(halfFromFloat(0x1p-25F), 0);
  EXPECT_EQ(halfFromFloat(0x3p-25F), 2);
}

TEST(Element, EveryHalfRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = floatFromHalf(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE((halfFromFloat(value) & 0x7FFF) > 0x7C00);
    else
      EXPECT_EQ(halfFromFloat(value), bits);
  }
}

} // namespace
} // namespace sluice::runtime
