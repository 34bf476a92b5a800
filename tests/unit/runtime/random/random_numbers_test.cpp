// Distributions of random numbers as programs have them.
#include "runtime/random/random_numbers.h"

#include <gtest/gtest.h>

namespace sluice::random {
namespace {

TEST(RandomNumbers, Elements) {
  const RandomField field({3, 1});
  const auto element = [&](Distribution distribution, double first, double second, uint64_t i) {
    return elementOf(field, {distribution, first, second, 0}, i);
  };
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(element(Distribution::Uniform, -4, -2, i), -4 + 2 * field.uniform(i));
    EXPECT_EQ(element(Distribution::Normal, 3, 2, i), 3 + 2 * field.normal(i));
    EXPECT_EQ(element(Distribution::Bernoulli, 0.3, 0, i), field.uniform(i) < 0.3 ? 1 : 0);
    EXPECT_EQ(element(Distribution::Gumbel, 0, 0, i), field.gumbel(i));
    EXPECT_EQ(element(Distribution::Threshold, 0, 0, i), floorToBf16(field.uniform(i)));
  }
}

TEST(RandomNumbers, Texts) {
  EXPECT_EQ(textOf({Distribution::Uniform, -1, 2.5}), "uniform from -1 to 2.5");
  EXPECT_EQ(textOf({Distribution::Normal, 0, 0.5}), "normal, mean 0, deviation 0.5");
  EXPECT_EQ(textOf({Distribution::Bernoulli, 0.25}), "1 with probability 0.25, else 0");
  EXPECT_EQ(textOf({Distribution::Gumbel}), "Gumbel");
  EXPECT_EQ(textOf({Distribution::Threshold}), "uniform from 0 to 1, rounded down to bf16");
}

TEST(RandomNumbers, Names) {
  for (const Distribution one :
       {Distribution::Uniform, Distribution::Normal, Distribution::Bernoulli, Distribution::Gumbel,
        Distribution::Threshold})
    EXPECT_EQ(distributionNamed(nameOf(one)), one);
  EXPECT_EQ(distributionNamed(""), std::nullopt);
  EXPECT_EQ(distributionNamed("cauchy"), std::nullopt);
}

TEST(RandomNumbers, Problems) {
  EXPECT_EQ(problemOf({Distribution::Bernoulli, 1}), "");
  EXPECT_EQ(problemOf({Distribution::Normal, -3, 2}), "");
  EXPECT_EQ(problemOf({Distribution::Bernoulli, 1.5}), "the probability is 1.5, allowed: 0 to 1");
  EXPECT_EQ(problemOf({static_cast<Distribution>(0)}), "the distribution is 0, allowed: 1 to 5");
  EXPECT_EQ(problemOf({static_cast<Distribution>(6)}), "the distribution is 6, allowed: 1 to 5");
}

} // namespace
} // namespace sluice::random
