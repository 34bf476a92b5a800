// Every table against a reference in long double, over all 65,536 inputs.
#include "compiler/conversion/scalar/table_builder.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "hw/numerics/numerics.h"

namespace sluice::rows {
namespace {

/// Rounding to bf16 by search among neighbours: independent of roundToBf16.
uint16_t nearest(long double value) {
  if (std::isnan(value))
    return 0x7FC0;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double magnitude = std::fabs(value);
  // Bit patterns of positive bf16 are ordered like their values; pattern
  // 0x7F80 stands for 2^128 here.
  const auto valueOf = [](unsigned bits) {
    return std::ldexp(static_cast<long double>(128 + (bits & 127)),
                      static_cast<int>(bits >> 7) - 127 - 7);
  };
  unsigned low = 0, high = 0x7F80;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (valueOf(middle) <= magnitude ? low : high) = middle;
  }
  if (magnitude >= valueOf(0x7F80))
    return sign | 0x7F80;
  const long double down = magnitude - valueOf(low), up = valueOf(high) - magnitude;
  const unsigned bits = magnitude < valueOf(0)                      ? 0
                        : down < up || (down == up && low % 2 == 0) ? low
                                                                    : high;
  // Below the normal range with unbounded exponent: rounds up only to 2^-126.
  if (magnitude < valueOf(0x80))
    return sign | (magnitude >= std::ldexp(511.0L, -126 - 9) ? 0x80 : 0);
  return static_cast<uint16_t>(sign | bits);
}

struct Case {
  const char *name;
  double (*function)(double);
  long double (*reference)(long double);
};

void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

template <typename T> T sigmoid(T x) { return 1 / (1 + std::exp(-x)); }
template <typename T> T softplus(T x) { return x > 40 ? x : std::log1p(std::exp(x)); }
template <typename T> T silu(T x) { return x == -INFINITY ? T(-0.0) : x * sigmoid(x); }
template <typename T> T elu(T x) { return x > 0 ? x : std::expm1(x); }
template <typename T> T geluErf(T x) {
  return x == -INFINITY ? T(-0.0) : x * std::erfc(-x / std::numbers::sqrt2_v<T>) / 2;
}
template <typename T> T geluTanh(T x) {
  // x/2 (1 + tanh u) = x * sigmoid(2u), which does not cancel.
  if (x == -INFINITY)
    return T(-0.0);
  const T u = T(0.797884560802865355879892119868763737L) * (x + T(0.044715L) * x * x * x);
  return x * sigmoid(2 * u);
}
template <typename T> T relu(T x) { return x > 0 || std::isnan(x) ? x : T(0); }
template <typename T> T hardSigmoid(T x) {
  return std::isnan(x) ? x : std::min<T>(1, std::max<T>(0, x / 4 + T(0.5)));
}
template <typename T> T hardSwish(T x) {
  return x <= -3 ? T(-0.0) : x >= 3 ? x : x * ((x + 3) / 6);
}
template <typename T> T clip(T x) {
  return std::isnan(x) ? x : std::min<T>(6, std::max<T>(T(-0.3L), x));
}
template <typename T> T tanhShrunk(T x) { return std::tanh(x * T(0.125)) * 3 - 1; }
template <typename T> T reciprocal(T x) { return 1 / x; }
template <typename T> T rsqrt(T x) { return 1 / std::sqrt(x); }
template <typename T> T negate(T x) { return -x; }
template <typename T> T leakyEighth(T x) { return x < 0 ? x / 8 : x; }
template <typename T> T softsign(T x) {
  return std::isinf(x) ? std::copysign(T(1), x) : x / (1 + std::fabs(x));
}
template <typename T> T leaky(T x) { return x < 0 ? x * T(0.01) : x; }

#define STD(fn)                                                                                    \
  Case {                                                                                           \
    #fn, [](double x) { return std::fn(x); }, [](long double x) { return std::fn(x); }             \
  }

class ExactTable : public testing::TestWithParam<Case> {};

TEST_P(ExactTable, IsTheRoundedFunctionEverywhere) {
  const auto image = buildTable(GetParam().function);
  ASSERT_TRUE(image.has_value());
  const numerics::Table table(*image);
  unsigned wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const long double x = bf16ToDouble(static_cast<uint16_t>(bits));
    const unsigned want = nearest(GetParam().reference(x)), got = table(bits << 16) >> 16;
    if (want != got && ++wrong < 5)
      ADD_FAILURE() << "x " << x << ": table " << bf16ToDouble(static_cast<uint16_t>(got))
                    << ", function " << GetParam().reference(x);
  }
  EXPECT_EQ(wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, ExactTable,
    testing::Values(
        Case{"relu", relu, relu}, Case{"sigmoid", sigmoid, sigmoid}, STD(tanh), STD(exp), STD(exp2),
        Case{"gelu", geluErf, geluErf}, Case{"gelu_tanh", geluTanh, geluTanh},
        Case{"silu", silu, silu}, Case{"elu", elu, elu}, STD(expm1), Case{"leaky", leaky, leaky},
        Case{"reciprocal", reciprocal, reciprocal}, STD(sqrt), Case{"rsqrt", rsqrt, rsqrt},
        STD(fabs), Case{"neg", negate, negate}, Case{"hard_sigmoid", hardSigmoid, hardSigmoid},
        Case{"hard_swish", hardSwish, hardSwish}, Case{"clip", clip, clip},
        Case{"tanh_shrunk", tanhShrunk, tanhShrunk}, Case{"leaky_eighth", leakyEighth, leakyEighth},
        STD(round), STD(log), STD(floor), STD(ceil)),
    [](const auto &info) { return std::string(info.param.name); });

/// Functions that no header makes exact: neither end is constant or a scaled
/// x, and they do not repeat with the exponent.
TEST(TableBuilder, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(buildTable([](double x) { return std::log2(x); }, 1));
  EXPECT_FALSE(buildTable([](double x) { return std::log1p(x); }, 1));
  EXPECT_FALSE(buildTable([](double x) { return std::sin(x); }, 1));
  EXPECT_FALSE(buildTable([](double x) { return std::cbrt(x); }, 1));
  EXPECT_FALSE(buildTable([](double x) { return std::erf(x); }, 1));
  EXPECT_FALSE(buildTable([](double x) { return x * std::tanh(softplus(x)); }, 1));
  EXPECT_FALSE(buildTable([](double x) { return x * x; }, 1));
}

/// softplus and softsign are 19 exponents wide: exact in the window, one ulp outside.
TEST(TableBuilder, StaysWithinOneUlpWhereTheWindowIsShort) {
  EXPECT_FALSE(buildTable(softplus<double>));
  EXPECT_FALSE(buildTable(softsign<double>));
  EXPECT_TRUE(buildTable(softsign<double>, 1));
  const auto image = buildTable(softplus<double>, 1);
  ASSERT_TRUE(image.has_value());
  const numerics::Table table(*image);
  unsigned wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const long double x = bf16ToDouble(static_cast<uint16_t>(bits));
    const int want = nearest(softplus(x)), got = static_cast<int>(table(bits << 16) >> 16);
    EXPECT_LE(std::abs(want - got), 1) << x;
    wrong += want != got;
  }
  EXPECT_LT(wrong, 2048U);
}

/// -128 + 0.5 is a bf16 number, and so is 0.5 - 2^-9: they are 17 exponents apart.
TEST(TableBuilder, GivesNoNeighbourOfAnExactValue) {
  EXPECT_FALSE(buildTable([](double x) { return std::fmin(x + 0.5, 3.0); }, 1));
  EXPECT_FALSE(buildTable([](double x) { return leakyEighth(x + 0.5); }, 1));
  EXPECT_TRUE(buildTable([](double x) { return leakyEighth(x + 0.3); }, 1));
  const auto shifted = [](double x) { return relu(x + 0.5); };
  EXPECT_FALSE(buildTable(shifted));
  const auto image = buildTable(shifted, 1);
  ASSERT_TRUE(image.has_value());
  const numerics::Table table(*image);
  unsigned wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double value = shifted(bf16ToDouble(static_cast<uint16_t>(bits)));
    const unsigned want = roundToBf16(value), got = table(bits << 16) >> 16;
    wrong += want != got;
    if (bf16ToDouble(static_cast<uint16_t>(want)) == value)
      EXPECT_EQ(got, want) << bits;
  }
  EXPECT_GT(wrong, 0U);
}

TEST(TableBuilder, RoundsLikeTheMachine) {
  EXPECT_EQ(roundToBf16(1.0), 0x3F80);
  EXPECT_EQ(roundToBf16(1.0 + 1.0 / 256), 0x3F80);         // tie to even
  EXPECT_EQ(roundToBf16(1.0 + 3.0 / 256), 0x3F82);         // tie to even
  EXPECT_EQ(roundToBf16(std::ldexp(255.5, 120)), 0x7F80);  // carry into infinity
  EXPECT_EQ(roundToBf16(std::ldexp(511.0, -135)), 0x0080); // rounds up to the smallest normal
  EXPECT_EQ(roundToBf16(std::ldexp(-255.0, -134)), 0x8000);
  EXPECT_EQ(roundToBf16(NAN), 0x7FC0);
  EXPECT_EQ(roundToBf16(-INFINITY), 0xFF80);
}

} // namespace
} // namespace sluice::rows
