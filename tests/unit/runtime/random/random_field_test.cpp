// Random fields: the generator's published answers, the distributions, and that an element depends
// on seed and coordinates only.
#include "runtime/random/random_field.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/random/philox.h"

namespace sluice::random {
namespace {

TEST(Philox, KnownAnswers) {
  // Those of the paper's authors (Random123, kat_vectors).
  static_assert(philox({}, {}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  static_assert(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}) ==
                PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  static_assert(
      philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
      PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

using Element = std::function<double(uint64_t)>;

std::vector<double> whole(size_t count, const Element &element) {
  std::vector<double> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = element(i);
  return result;
}

TEST(RandomField, APartIsTheSameMadeAlone) {
  const RandomField field({7, 1});
  // Every third element of a range, from the last one to the first.
  for (const Element &element : {Element([&](uint64_t i) { return field.uniform(i); }),
                                 Element([&](uint64_t i) { return field.normal(i); }),
                                 Element([&](uint64_t i) { return field.gumbel(i); })}) {
    const std::vector<double> all = whole(210, element);
    for (size_t i = 208; i > 3; i -= 3)
      EXPECT_EQ(element(i), all[i]);
  }
}

TEST(RandomField, DiffersBySeedAndStream) {
  std::vector<std::vector<double>> fields;
  for (const RandomKey key :
       {RandomKey{0, 0}, {1, 0}, {uint64_t{1} << 32, 0}, {0, 1}, {1, 1}, {0, uint64_t{1} << 32}}) {
    const RandomField field(key);
    fields.push_back(whole(1000, [&](uint64_t i) { return field.uniform(i); }));
  }
  for (size_t a = 0; a < fields.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      double product = 0;
      for (size_t i = 0; i < 1000; ++i)
        product += (fields[a][i] - 0.5) * (fields[b][i] - 0.5);
      EXPECT_LT(std::abs(product / 1000), 5 / 12.0 / std::sqrt(1000)) << a << ' ' << b;
    }
  EXPECT_NE(RandomField({}).uniform(0), RandomField({}).uniform(uint64_t{1} << 32));
}

TEST(RandomField, KeysOfInferencesDiffer) {
  std::vector<RandomKey> keys;
  for (const uint64_t seed : {0, 1})
    for (const uint64_t stream : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32})
      for (const uint64_t inference : {0, 1})
        keys.push_back(keyOfInference(seed, stream, inference));
  for (size_t a = 0; a < keys.size(); ++a)
    for (size_t b = 0; b < a; ++b)
      EXPECT_FALSE(keys[a] == keys[b]) << a << ' ' << b;
  // By hand: the key is two words of a block, and the inference is the second half of the counter.
  const PhiloxCounter block = philox({3, 2, 0, 1}, {5, 4});
  EXPECT_EQ(keyOfInference(uint64_t{4} << 32 | 5, uint64_t{2} << 32 | 3, 9),
            (RandomKey{block[0] | uint64_t{block[1]} << 32, 9}));
}

/// Kolmogorov and Smirnov's largest distance between the distribution of 100,000 elements and
/// `cumulative`; above 0.0062 once in a thousand fields.
double distance(const Element &element, const std::function<double(double)> &cumulative) {
  constexpr int kCount = 100000;
  std::vector<double> values(kCount);
  for (int i = 0; i < kCount; ++i)
    values[i] = element(i);
  std::sort(values.begin(), values.end());
  double most = 0;
  for (int i = 0; i < kCount; ++i) {
    const double expected = cumulative(values[i]);
    most = std::max({most, std::abs(expected - static_cast<double>(i) / kCount),
                     std::abs(expected - (i + 1.0) / kCount)});
  }
  return most;
}

TEST(RandomField, HasItsDistributions) {
  const RandomField field({3, 0});
  EXPECT_LT(distance([&](uint64_t i) { return field.uniform(i); }, [](double x) { return x; }),
            0.0062);
  EXPECT_LT(distance([&](uint64_t i) { return field.normal(i); },
                     [](double x) { return std::erfc(-x * M_SQRT1_2) / 2; }),
            0.0062);
  EXPECT_LT(distance([&](uint64_t i) { return field.gumbel(i); },
                     [](double x) { return std::exp(-std::exp(-x)); }),
            0.0062);
  for (uint64_t i = 0; i < 100000; ++i) {
    ASSERT_GE(field.uniform(i), 0);
    ASSERT_LT(field.uniform(i), 1);
    ASSERT_TRUE(field.bernoulli(i, 1) && !field.bernoulli(i, 0));
  }
}

TEST(RandomField, RoundedDownComparesTheSame) {
  EXPECT_EQ(floorToBf16(0), 0);
  EXPECT_EQ(floorToBf16(1), 1);
  EXPECT_EQ(floorToBf16(1 - 0x1p-53), 1 - 0x1p-8);
  const RandomField field({5, 0});
  for (uint64_t i = 0; i < 10000; ++i) {
    const double u = field.uniform(i), p = std::round(field.uniform(i + 10000) * 256) / 256;
    const double low = floorToBf16(u);
    ASSERT_EQ(low < p, u < p) << u << ' ' << p;
    ASSERT_EQ(floorToBf16(low), low);
  }
}

} // namespace
} // namespace sluice::random
