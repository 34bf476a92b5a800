// The matrix unit's arithmetic against slow formulations: the definition term by
// term in 128-bit integers, and the exact sum as an integer over 2^-268.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hw/numerics/dot_product.h"
#include "tests/unit/hw/numerics/dot_row.h"
#include "tests/unit/hw/numerics/operands.h"

namespace sluice::numerics {
namespace {

using Wide = __int128;
using testing::dotRow;
using testing::Operands;

struct Product {
  int sign, p, es;
};

Product product(uint16_t x, uint16_t w) {
  const int xe = (x >> 7) % 256, we = (w >> 7) % 256;
  if (xe == 0 || we == 0)
    return {1, 0, 0};
  return {((x ^ w) & 0x8000) ? -1 : 1, (128 + x % 128) * (128 + w % 128), xe + we};
}

/// The group sum as docs/machine.md states it.
AccLane definedGroupSum(const uint16_t *x, const uint16_t *w, unsigned terms) {
  int largest = 0;
  for (unsigned i = 0; i < terms; ++i)
    largest = std::max(largest, product(x[i], w[i]).es / 8);
  Wide sum = 0;
  for (unsigned i = 0; i < terms; ++i) {
    const Product term = product(x[i], w[i]);
    Wide field = static_cast<Wide>(term.p) << (term.es % 8) << isa::kFieldFraction;
    for (int k = term.es / 8; k < largest; ++k)
      field /= 256;
    sum += term.sign * field;
  }
  return {static_cast<int64_t>(sum), static_cast<uint8_t>(largest), false};
}

Wide floorShift(Wide value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    value = (value - ((value % 256 + 256) % 256)) / 256;
  return value;
}

AccLane definedAdd(const AccLane &a, const AccLane &b) {
  const int q = std::max(a.q, b.q);
  Wide sum = floorShift(a.m, q - a.q) + floorShift(b.m, q - b.q);
  const Wide range = static_cast<Wide>(1) << isa::kAccBits;
  sum = ((sum % range) + range) % range;
  if (sum >= range / 2)
    sum -= range;
  return {static_cast<int64_t>(sum), static_cast<uint8_t>(q), a.poison || b.poison};
}

AccLane randomLane(Operands &operands) {
  const unsigned bits = 1 + operands.below(isa::kAccBits - 1);
  const auto m = static_cast<int64_t>(operands.engine() >> (64 - bits));
  return {operands.below(2) ? m : -m,
          static_cast<uint8_t>(operands.below(4) ? 28 + operands.below(8) : operands.below(64)),
          operands.below(16) == 0};
}

TEST(MatrixNumerics, RowMatchesTheDefinition) {
  struct Shape {
    unsigned lanes, terms;
  };
  Operands operands(1);
  for (const Shape shape : {Shape{4, 1}, Shape{4, 4}, Shape{8, 4}, Shape{8, 8}, Shape{32, 16},
                            Shape{32, 32}, Shape{64, 16}, Shape{64, 64}}) {
    std::vector<uint16_t> x(shape.lanes), w(shape.lanes * shape.lanes);
    std::vector<AccLane> out(shape.lanes);
    for (int trial = 0; trial < 400; ++trial) {
      operands.spread = trial % 3 == 0 ? 4 : trial % 3 == 1 ? 30 : 200;
      const bool poison = trial % 10 == 0;
      for (uint16_t &value : x)
        value = operands.bf16(!poison);
      for (uint16_t &value : w)
        value = operands.bf16(trial % 7 != 0); // used as they are
      dotRow(x, w.data(), shape.terms, out);
      for (unsigned j = 0; j < shape.lanes; ++j) {
        AccLane expected;
        std::vector<uint16_t> column(shape.lanes);
        for (unsigned i = 0; i < shape.lanes; ++i)
          column[i] = w[i * shape.lanes + j];
        for (unsigned first = 0; first < shape.lanes; first += shape.terms) {
          const AccLane group = definedGroupSum(&x[first], &column[first], shape.terms);
          expected = first == 0 ? group : definedAdd(expected, group);
        }
        expected.poison = poisons(x);
        ASSERT_EQ(expected, out[j]) << "lane " << j << " of " << shape.lanes << ", trial " << trial;
      }
    }
  }
}

TEST(MatrixNumerics, EveryInstructionSetGivesTheSameBits) {
  Operands operands(8);
  std::vector<uint16_t> x(64), w(64 * 64);
  for (int trial = 0; trial < 300; ++trial) {
    operands.spread = trial % 2 ? 12 : 120;
    for (uint16_t &value : x)
      value = operands.below(3) ? operands.bf16(true) : 0;
    for (uint16_t &value : w)
      value = flushWeight(operands.bf16(true));
    for (unsigned lanes : {4U, 8U, 16U, 32U, 64U}) {
      std::vector<int64_t> expectedM, expectedQ;
      for (const DotBody &body : dotBodies()) {
        std::vector<int64_t> m(lanes, 12345), q(lanes, 30);
        const TowardZero mode;
        body.add(x.data(), w.data(), lanes, lanes / 2, m.data(), q.data());
        if (expectedM.empty()) {
          expectedM = m;
          expectedQ = q;
        }
        ASSERT_EQ(m, expectedM) << body.name << ", lanes " << lanes;
        ASSERT_EQ(q, expectedQ) << body.name << ", lanes " << lanes;
      }
    }
  }
}

TEST(MatrixNumerics, LargestProductsDoNotOverflow) {
  const std::vector<uint16_t> x(32, 0x7F7F);
  std::vector<uint16_t> w(32 * 32, 0x7F7F);
  std::vector<AccLane> out(32);
  for (unsigned terms : {8U, 16U, 32U}) {
    dotRow(x, w.data(), terms, out);
    // 508 = 8 * 63 + 4: the product field is 255*255 << 4 << 11.
    EXPECT_EQ(out[31], (AccLane{32LL * 255 * 255 << 15, 63, false}));
  }
  AccLane acc;
  for (int block = 0; block < 256; ++block)
    acc = anchoredAdd(acc, out[0]);
  EXPECT_EQ(acc.m, 256LL * 32 * 255 * 255 << 15);
}

TEST(MatrixNumerics, AnchoredAddMatchesTheDefinition) {
  Operands operands(2);
  for (int trial = 0; trial < 200000; ++trial) {
    const AccLane a = randomLane(operands), b = randomLane(operands);
    ASSERT_EQ(definedAdd(a, b), anchoredAdd(a, b))
        << a.m << '@' << +a.q << ' ' << b.m << '@' << +b.q;
  }
  EXPECT_EQ(anchoredAdd({-1, 0, false}, {5, 63, false}), (AccLane{4, 63, false}));
  EXPECT_EQ(anchoredAdd({(1LL << 47) - 1, 9, false}, {1, 9, true}),
            (AccLane{-(1LL << 47), 9, true}));
}

TEST(MatrixNumerics, ImagesRoundTrip) {
  Operands operands(3);
  for (int trial = 0; trial < 10000; ++trial) {
    const AccLane lane = randomLane(operands);
    EXPECT_EQ(unpackLane(packLane(lane)), lane);
    EXPECT_EQ(packLane(lane) >> 55, 0U);
  }
  EXPECT_EQ(packLane({-1, 63, true}), 0x007FFFFFFFFFFFFFU);
  EXPECT_EQ(unpackLane(0xFF80000000000001U), (AccLane{1, 0, false}));
}

/// Exact value of a lane; every double operation here is exact.
double valueOf(const AccLane &lane) {
  return std::ldexp(static_cast<double>(lane.m), 8 * lane.q - static_cast<int>(isa::kValueOffset));
}

TEST(MatrixNumerics, PreloadHoldsEveryFiniteValue) {
  Operands operands(4);
  for (unsigned exponent = 1; exponent < 255; ++exponent) {
    for (unsigned trial = 0; trial < 64; ++trial) {
      const uint32_t value = operands.below(2) << 31 | exponent << 23 | operands.below(1 << 23);
      const auto lane = preloadLane(value);
      ASSERT_TRUE(lane);
      EXPECT_EQ(valueOf(*lane), static_cast<double>(toFloat(value)));
      EXPECT_EQ(resultLane(*lane, isa::Emit::Fp32), value);
      EXPECT_EQ(std::abs(lane->m) & 255, 0) << "no fraction bits left for the alignment";
    }
  }
  EXPECT_EQ(preloadLane(0x807FFFFF), AccLane{});
  EXPECT_FALSE(preloadLane(0x7F800000));
  EXPECT_FALSE(preloadLane(0xFFC00000));
}

/// Rounding by doubles: m has at most 47 bits and is exact; scaling to units of
/// the last place is exact, and nearbyint rounds to nearest even.
uint32_t slowRound(const AccLane &lane, int bits) {
  if (lane.poison)
    return kFp32NaN;
  if (lane.m == 0)
    return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(static_cast<double>(lane.m)), &exponent);
  double significand = std::nearbyint(std::ldexp(fraction, bits)); // 2^(bits-1) .. 2^bits
  if (significand == std::ldexp(1.0, bits)) {
    significand /= 2;
    ++exponent;
  }
  const int biased = exponent - 1 + 8 * lane.q - 279 + 127;
  const uint32_t sign = lane.m < 0 ? 0x80000000 : 0;
  if (biased >= 255)
    return sign | 0x7F800000;
  if (biased <= 0)
    return sign;
  const auto stored = static_cast<uint32_t>(std::ldexp(significand, 24 - bits)) - 0x800000;
  return sign | static_cast<uint32_t>(biased) << 23 | stored;
}

TEST(MatrixNumerics, RoundingMatchesDoubles) {
  Operands operands(5);
  for (int trial = 0; trial < 300000; ++trial) {
    AccLane lane = randomLane(operands);
    if (trial % 3 == 0) // near ties
      lane.m = (lane.m & ~0xFFFFLL) + static_cast<int64_t>(operands.below(3)) - 1 + 0x8000;
    ASSERT_EQ(resultLane(lane, isa::Emit::Bf16), slowRound(lane, 8)) << lane.m << '@' << +lane.q;
    ASSERT_EQ(resultLane(lane, isa::Emit::Fp32), slowRound(lane, 24)) << lane.m << '@' << +lane.q;
  }
  for (int q = 0; q < 64; ++q)
    for (int64_t m :
         {int64_t{1}, int64_t{-1}, int64_t{0x1FF}, (int64_t{1} << 47) - 1, -(int64_t{1} << 47)}) {
      const AccLane lane{m, static_cast<uint8_t>(q), false};
      EXPECT_EQ(resultLane(lane, isa::Emit::Bf16), slowRound(lane, 8)) << m << '@' << q;
    }
}

TEST(MatrixNumerics, SmallIntegersAreExact) {
  Operands operands(6);
  std::vector<uint16_t> x(32), w(32 * 32);
  std::vector<AccLane> out(32);
  const auto integer = [&] {
    return static_cast<uint16_t>(
        toBits(static_cast<float>(static_cast<int>(operands.below(255)) - 127)) >> 16);
  };
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<AccLane> acc(32);
    std::vector<int64_t> expected(32);
    for (int block = 0; block < 8; ++block) {
      for (uint16_t &value : x)
        value = integer();
      for (uint16_t &value : w)
        value = integer();
      dotRow(x, w.data(), 16, out);
      for (unsigned j = 0; j < 32; ++j)
        acc[j] = anchoredAdd(acc[j], out[j]);
      for (unsigned j = 0; j < 32; ++j)
        for (unsigned i = 0; i < 32; ++i)
          expected[j] += static_cast<int64_t>(toFloat(widen(x[i]))) *
                         static_cast<int64_t>(toFloat(widen(w[i * 32 + j])));
    }
    for (unsigned j = 0; j < 32; ++j)
      ASSERT_EQ(resultLane(acc[j], isa::Emit::Fp32), toBits(static_cast<float>(expected[j])));
  }
}

TEST(MatrixNumerics, ErrorIsBelowSingleAccumulation) {
  // 1024 terms; errors relative to the sum of magnitudes, exact in 128 bits,
  // beside those of fp32 additions in the same order.
  constexpr int unit = -92; // products of 2^-92 to 2^9
  Operands operands(7);
  double worst = 0, worstSingle = 0;
  for (int trial = 0; trial < 300; ++trial) {
    operands.spread = trial % 2 ? 8 : 40;
    AccLane acc;
    Wide exact = 0;
    double magnitude = 0;
    float single = 0;
    for (int group = 0; group < 64; ++group) {
      std::vector<uint16_t> x(16), w(16 * 16);
      for (int i = 0; i < 16; ++i) {
        do {
          x[i] = operands.bf16(true);
          w[i * 16] = operands.bf16(true);
        } while (product(x[i], w[i * 16]).es < 268 + unit || product(x[i], w[i * 16]).es > 262);
        const Product term = product(x[i], w[i * 16]);
        exact += term.sign * (static_cast<Wide>(term.p) << (term.es - 268 - unit));
        magnitude += std::ldexp(term.p, term.es - 268);
        single += toFloat(widen(x[i])) * toFloat(widen(w[i * 16]));
      }
      std::vector<AccLane> out(16);
      dotRow(x, w.data(), 16, out);
      acc = anchoredAdd(acc, out[0]);
    }
    const int up = 8 * acc.q - static_cast<int>(isa::kValueOffset) - unit;
    const Wide got = up >= 0 ? static_cast<Wide>(acc.m) << up : static_cast<Wide>(acc.m) >> -up;
    const auto error = [&](double value) { return std::fabs(value) / magnitude; };
    worst = std::max(worst, error(std::ldexp(static_cast<double>(got - exact), unit)));
    worstSingle = std::max(worstSingle, error(static_cast<double>(single) -
                                              std::ldexp(static_cast<double>(exact), unit)));
  }
  EXPECT_LT(worst, worstSingle);
  EXPECT_LT(worst, std::ldexp(1.0, -24));
  RecordProperty("worst_log2", std::to_string(std::log2(worst)));
  RecordProperty("single_log2", std::to_string(std::log2(worstSingle)));
  std::printf("worst error 2^%.1f, fp32 additions 2^%.1f\n", std::log2(worst),
              std::log2(worstSingle));
}

} // namespace
} // namespace sluice::numerics
