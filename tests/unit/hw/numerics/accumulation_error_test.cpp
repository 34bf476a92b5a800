// The dot product against an exact sum, in the measure docs/numerics.md states:
// the error relative to the sum of the magnitudes of the products.
#include "hw/numerics/numerics.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/hw/numerics/dot_row.h"

namespace sluice::numerics {
namespace {

constexpr unsigned kLanes = 32, kPeTerms = 16, kBlocks = 32; // K = 1024 in one output lane

uint16_t bf16(double value) { return roundToBf16(toBits(static_cast<float>(value))); }
double real(uint16_t value) { return toFloat(static_cast<uint32_t>(value) << 16); }

struct Errors {
  double ours = 0;
  double fp32 = 0;
  double ofBound = 0; ///< the error as a part of what docs/numerics.md proves
};

/// One unit for each product and each of the additions behind it, and a unit is at
/// most 2^-25 of the largest product.
long double bound(double largestProduct) {
  constexpr unsigned kProducts = kLanes * kBlocks;
  constexpr unsigned kUnits = kProducts + kProducts / kPeTerms + kBlocks;
  return std::ldexp(static_cast<long double>(largestProduct), -25) * kUnits;
}

/// Largest relative errors over `trials` dot products of K = 1024; scale draws
/// the binary exponent of a factor.
template <typename Scale> Errors measure(unsigned trials, Scale scale) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Errors worst;
  for (unsigned trial = 0; trial < trials; ++trial) {
    // The products have 16 significant bits, so long double sums of 1024 of
    // them within 2^40 of each other are far below the errors measured.
    long double exact = 0, magnitude = 0;
    float sequential = 0;
    double largest = 0;
    AccLane acc;
    for (unsigned block = 0; block < kBlocks; ++block) {
      std::vector<uint16_t> x(kLanes), w(kLanes * kLanes);
      for (unsigned i = 0; i < kLanes; ++i) {
        x[i] = bf16(std::ldexp(normal(random), scale(random)));
        w[i * kLanes] = bf16(std::ldexp(normal(random), scale(random)));
        const double product = real(x[i]) * real(w[i * kLanes]);
        exact += product;
        magnitude += std::fabs(product);
        largest = std::max(largest, std::fabs(product));
        sequential += static_cast<float>(product);
      }
      std::vector<AccLane> out(kLanes);
      testing::dotRow(x, w.data(), kPeTerms, out);
      acc = anchoredAdd(acc, out[0]);
    }
    const long double ours = std::ldexp(static_cast<long double>(acc.m),
                                        8 * acc.q - static_cast<int>(isa::kValueOffset));
    worst.ours = std::max(worst.ours, static_cast<double>(std::fabs(ours - exact) / magnitude));
    worst.ofBound =
        std::max(worst.ofBound, static_cast<double>(std::fabs(ours - exact) / bound(largest)));
    worst.fp32 =
        std::max(worst.fp32, static_cast<double>(std::fabs(sequential - exact) / magnitude));
  }
  std::printf(
      "worst error / sum of |x w| over %u sums of 1024: ours 2^%.1f, fp32 one by one 2^%.1f; "
      "%.2f of the bound\n",
      trials, std::log2(worst.ours), std::log2(worst.fp32), worst.ofBound);
  return worst;
}

TEST(AccumulationError, FactorsOfOneScale) {
  const Errors worst = measure(500, [](auto &) { return 0; });
  EXPECT_LT(worst.ours, std::ldexp(1.0, -29));
  EXPECT_LT(worst.ours, worst.fp32);
  EXPECT_LE(worst.ofBound, 1);
}

TEST(AccumulationError, FactorsOverTwentyBinaryOrders) {
  std::uniform_int_distribution<int> exponents(-10, 10);
  const Errors worst = measure(500, [&](auto &random) { return exponents(random); });
  EXPECT_LT(worst.ours, std::ldexp(1.0, -23));
  EXPECT_LT(worst.ours, worst.fp32);
  EXPECT_LE(worst.ofBound, 1);
}

} // namespace
} // namespace sluice::numerics
