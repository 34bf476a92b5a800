// The vector unit's arithmetic against integer formulations that share nothing
// with the library: exact results in 128-bit integers, rounded once.
#include "hw/numerics/numerics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/hw/numerics/operands.h"

namespace sluice::numerics {
namespace {

using testing::Operands;
using Wide = unsigned __int128;

struct Parts {
  bool negative;
  int exponent;
  uint32_t significand; // 0 for zeros
};

Parts split(uint32_t value) {
  const int exponent = static_cast<int>((value >> 23) & 255);
  return {(value >> 31) != 0, exponent, exponent == 0 ? 0 : (value & 0x7FFFFF) | 0x800000};
}

bool infinite(uint32_t value) { return (value & 0x7FFFFFFF) == 0x7F800000; }

/// magnitude * 2^(scale - 150), rounded to 24 bits with unbounded exponent.
uint32_t slowRound(bool negative, Wide magnitude, int scale) {
  const uint32_t sign = negative ? 0x80000000 : 0;
  int top = 0;
  for (Wide rest = magnitude; rest > 1; rest >>= 1)
    ++top;
  int exponent = top + scale - 23;
  uint32_t significand = 0;
  if (top <= 23) {
    significand = static_cast<uint32_t>(magnitude << (23 - top));
  } else {
    const Wide unit = static_cast<Wide>(1) << (top - 23), rest = magnitude % unit;
    significand = static_cast<uint32_t>(magnitude / unit);
    if (2 * rest > unit || (2 * rest == unit && significand % 2))
      ++significand;
    if (significand == 1U << 24) {
      significand >>= 1;
      ++exponent;
    }
  }
  if (exponent > 254)
    return sign | 0x7F800000;
  return exponent < 1 ? sign
                      : sign | static_cast<uint32_t>(exponent) << 23 | (significand & 0x7FFFFF);
}

uint32_t slowAdd(uint32_t l, uint32_t r) {
  if (isNaN(l) || isNaN(r) || (infinite(l) && infinite(r) && l != r))
    return kFp32NaN;
  if (infinite(l) || infinite(r))
    return infinite(l) ? l : r;
  Parts a = split(l), b = split(r);
  if (a.exponent < b.exponent)
    std::swap(a, b);
  if (a.significand == 0 && b.significand == 0)
    return a.negative && b.negative ? 0x80000000 : 0;
  if (b.significand == 0)
    return slowRound(a.negative, a.significand, a.exponent);
  // Beyond 60 places the smaller one is only a non-zero rest.
  const int distance = std::min(a.exponent - b.exponent, 60);
  const __int128 left = static_cast<__int128>(a.significand) << distance;
  const __int128 right = b.significand;
  const __int128 sum = (a.negative ? -left : left) + (b.negative ? -right : right);
  if (sum == 0)
    return 0;
  return slowRound(sum < 0, static_cast<Wide>(sum < 0 ? -sum : sum), a.exponent - distance);
}

uint32_t slowMul(uint32_t l, uint32_t r) {
  const Parts a = split(l), b = split(r);
  const bool negative = a.negative != b.negative;
  if (isNaN(l) || isNaN(r) || (infinite(l) && b.significand == 0) ||
      (infinite(r) && a.significand == 0))
    return kFp32NaN;
  if (infinite(l) || infinite(r))
    return negative ? 0xFF800000 : 0x7F800000;
  if (a.significand == 0 || b.significand == 0)
    return negative ? 0x80000000 : 0;
  return slowRound(negative, static_cast<Wide>(a.significand) * b.significand,
                   a.exponent + b.exponent - 150);
}

/// Sign of l - r for numbers: zeros of both signs are equal.
int slowCompare(uint32_t l, uint32_t r) {
  const auto key = [](uint32_t value) {
    const Parts parts = split(value);
    const int64_t size = static_cast<int64_t>(parts.exponent) << 24 | parts.significand;
    return parts.negative ? -size : size;
  };
  return (key(l) > key(r)) - (key(l) < key(r));
}

uint32_t slowMax(uint32_t l, uint32_t r) {
  if (isNaN(l) || isNaN(r))
    return kFp32NaN;
  const int order = slowCompare(l, r);
  const uint32_t result = order > 0 ? l : order < 0 ? r : (l & r & 0x80000000) | (l & 0x7FFFFFFF);
  return split(result).significand ? result : result & 0x80000000;
}

uint32_t negated(uint32_t value) { return isNaN(value) ? value : value ^ 0x80000000; }

TEST(VectorNumerics, ArithmeticMatchesIntegers) {
  Operands operands(11);
  for (int trial = 0; trial < 2000000; ++trial) {
    operands.spread = trial % 2 ? 6 : 60;
    const uint32_t l = operands.fp32(), r = operands.fp32();
    ASSERT_EQ(add(l, r), slowAdd(l, r)) << std::hex << l << ' ' << r;
    ASSERT_EQ(sub(l, r), slowAdd(l, negated(r))) << std::hex << l << ' ' << r;
    ASSERT_EQ(mul(l, r), slowMul(l, r)) << std::hex << l << ' ' << r;
    ASSERT_EQ(max(l, r), slowMax(l, r)) << std::hex << l << ' ' << r;
    ASSERT_EQ(min(l, r), negated(slowMax(negated(l), negated(r)))) << std::hex << l << ' ' << r;
  }
}

TEST(VectorNumerics, ProductsAtTheUnderflowBoundary) {
  // Significand pairs whose product is just below 2^-126.
  Operands operands(12);
  int flushed = 0, kept = 0;
  for (int trial = 0; trial < 200000; ++trial) {
    const uint32_t l = 0x1F800000 | operands.below(1 << 23); // 2^-64 .. 2^-63
    const double wanted = std::ldexp(1.0, -126) / static_cast<double>(toFloat(l));
    const uint32_t r = toBits(static_cast<float>(wanted)) + operands.below(5) - 2;
    const uint32_t result = mul(l, r);
    ASSERT_EQ(result, slowMul(l, r)) << std::hex << l << ' ' << r;
    (result ? kept : flushed) += 1;
  }
  EXPECT_GT(flushed, 1000);
  EXPECT_GT(kept, 1000);
  EXPECT_EQ(mul(0x00800000, 0x3F7FFFFF), 0U);          // representable below 2^-126: zero
  EXPECT_EQ(mul(0x3F000001, 0x00FFFFFF), 0x00800000U); // 2^-126 (1 + 2^-24 - 2^-47)
  EXPECT_EQ(mul(0x80800000, 0x3F000000), 0x80000000U);
}

TEST(VectorNumerics, ComparisonsAndSelect) {
  Operands operands(13);
  const auto boolean = [](bool value) { return value ? 0x3F800000U : 0U; };
  for (int trial = 0; trial < 200000; ++trial) {
    const uint32_t l = operands.fp32(), r = operands.below(8) ? operands.fp32() : l;
    const bool ordered = !isNaN(l) && !isNaN(r);
    const int order = slowCompare(l, r);
    const auto run = [&](isa::Alu op) { return alu(op, l, r, 1, 2); };
    EXPECT_EQ(run(isa::Alu::Lt), boolean(ordered && order < 0));
    EXPECT_EQ(run(isa::Alu::Le), boolean(ordered && order <= 0));
    EXPECT_EQ(run(isa::Alu::Eq), boolean(ordered && order == 0));
    EXPECT_EQ(run(isa::Alu::Ne), boolean(!ordered || order != 0));
    EXPECT_EQ(run(isa::Alu::Ge), boolean(ordered && order >= 0));
    EXPECT_EQ(run(isa::Alu::Gt), boolean(ordered && order > 0));
    EXPECT_EQ(run(isa::Alu::Select), isNaN(l) || split(l).significand ? 1U : 2U);
    EXPECT_EQ(run(isa::Alu::Rsub), sub(r, l));
    EXPECT_EQ(run(isa::Alu::Pass), l);
  }
}

TEST(VectorNumerics, RowsAreLanewise) {
  Operands operands(14);
  std::array<uint32_t, 32> l, r, b, c, out;
  for (unsigned op = 0; op <= static_cast<unsigned>(isa::Alu::Select); ++op) {
    for (unsigned i = 0; i < 32; ++i) {
      l[i] = operands.fp32();
      r[i] = operands.fp32();
      b[i] = operands.fp32();
      c[i] = operands.fp32();
    }
    aluRow(static_cast<isa::Alu>(op), l, r, b, c, out);
    for (unsigned i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], alu(static_cast<isa::Alu>(op), l[i], r[i], b[i], c[i]))
          << "operation " << op;
  }
}

TEST(VectorNumerics, EveryBf16Widens) {
  for (uint32_t value = 0; value < 65536; ++value) {
    const auto bits = static_cast<uint16_t>(value);
    const bool zero = (value & 0x7F80) == 0;
    EXPECT_EQ(widen(bits), zero ? (value & 0x8000) << 16 : value << 16);
    const uint16_t back = roundToBf16(widen(bits));
    EXPECT_EQ(back, isNaN(value << 16) ? kBf16NaN : zero ? value & 0x8000 : value);
    // Every tie, and its neighbours, in the rounding to bf16.
    for (uint32_t low : {0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      const uint32_t wide = value << 16 | low;
      uint32_t expected = value;
      if (isNaN(wide))
        expected = kBf16NaN;
      else if (zero)
        expected = value & 0x8000;
      else if (low > 0x8000 || (low == 0x8000 && (value & 1)))
        expected = value + 1; // never from infinity: those patterns are NaN
      EXPECT_EQ(roundToBf16(wide), expected) << std::hex << wide;
    }
  }
}

/// Between neighbours that bf16 has, the middle goes to the even one.
TEST(VectorNumerics, DoublesRoundOnceToTheNearestBf16) {
  const auto of = [](uint32_t bits) { return static_cast<double>(toFloat(bits << 16)); };
  for (uint32_t value = 0x80; value < 0x7F80; ++value) {
    const double low = of(value), high = value == 0x7F7F ? std::ldexp(1.0, 128) : of(value + 1);
    const double middle = low + (high - low) / 2;
    const auto even = static_cast<uint16_t>(value + (value & 1));
    const auto up = static_cast<uint16_t>(value + 1);
    EXPECT_EQ(roundToBf16(low), value);
    EXPECT_EQ(roundToBf16(std::nextafter(middle, 0)), value) << std::hex << value;
    EXPECT_EQ(roundToBf16(middle), even) << std::hex << value;
    EXPECT_EQ(roundToBf16(std::nextafter(middle, high)), up) << std::hex << value;
    EXPECT_EQ(roundToBf16(-middle), 0x8000 | even) << std::hex << value;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double least = of(0x80);
  EXPECT_EQ(roundToBf16(std::nextafter(least, 0)), 0x80); // nearer to it than to what is below
  EXPECT_EQ(roundToBf16(least / 2), 0);
  EXPECT_EQ(roundToBf16(-5e-324), 0x8000);
  EXPECT_EQ(roundToBf16(0.0), 0);
  EXPECT_EQ(roundToBf16(-0.0), 0x8000);
  EXPECT_EQ(roundToBf16(1e300), 0x7F80);
  EXPECT_EQ(roundToBf16(-kInfinity), 0xFF80);
  EXPECT_EQ(roundToBf16(-std::numeric_limits<double>::quiet_NaN()), kBf16NaN);
}

TEST(VectorNumerics, ReluThenRounding) {
  for (uint32_t value = 0; value < 65536; ++value) {
    const uint32_t wide = value << 16 | 0x1234;
    const bool negative = (value & 0x8000) && (value & 0x7F80) && !isNaN(wide);
    EXPECT_EQ(finish(isa::Post::Relu, wide), negative ? 0 : roundToBf16(wide));
    EXPECT_EQ(finish(isa::Post::None, wide), roundToBf16(wide));
    EXPECT_EQ(finish(isa::Post::None, wide, isa::Part::High), wide >> 16);
    EXPECT_EQ(finish(isa::Post::None, wide, isa::Part::Low), wide & 0xFFFF);
    EXPECT_EQ(finish(isa::Post::Relu, wide, isa::Part::Low), negative ? 0 : wide & 0xFFFF);
  }
}

TEST(VectorNumerics, ReduceMax) {
  Operands operands(15);
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<uint32_t> row(32);
    for (uint32_t &value : row)
      value = trial % 4 ? operands.fp32() & 0xBFFFFFFF : operands.fp32();
    uint32_t expected = row[0];
    for (uint32_t value : row)
      expected = slowMax(expected, value);
    EXPECT_EQ(reduceMax(row), expected);
    const uint32_t carry = slowMax(operands.fp32(), 0xFF800000);
    EXPECT_EQ(reduceMax(row, carry), slowMax(expected, carry));
  }
}

} // namespace
} // namespace sluice::numerics
