// The monoids: laws, and reductions as random trees against formulas in long double that know
// nothing of partial results.
#include "compiler/reference/monoid.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/reference/ops.h"

namespace sluice::reference {
namespace {

constexpr Monoid kAll[] = {Monoid::Sum,  Monoid::Product,  Monoid::Max,       Monoid::Min,
                           Monoid::Mean, Monoid::Variance, Monoid::LogSumExp, Monoid::ArgMax};
constexpr double kEps = std::numeric_limits<double>::epsilon();

using Random = std::mt19937_64;

int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

/// The reduction by its formula, and how far rounding may take a tree from it.
struct Expected {
  long double value;
  double bound;
};

Expected expected(Monoid monoid, const std::vector<double> &x) {
  const auto n = static_cast<long double>(x.size());
  long double sum = 0, magnitudes = 0, product = 1;
  for (const double one : x) {
    sum += one;
    magnitudes += std::fabs(one);
    product *= one;
  }
  const double steps = kEps * static_cast<double>(x.size());
  const double high = *std::max_element(x.begin(), x.end());
  switch (monoid) {
  case Monoid::Sum:
    return {sum, steps * static_cast<double>(magnitudes)};
  case Monoid::Product:
    return {product, steps * static_cast<double>(std::fabs(product))};
  case Monoid::Max:
    return {high, 0};
  case Monoid::Min:
    return {*std::min_element(x.begin(), x.end()), 0};
  case Monoid::Mean:
    return {sum / n, steps * static_cast<double>(magnitudes / n)};
  case Monoid::Variance: {
    long double squares = 0;
    for (const double one : x)
      squares += (one - sum / n) * (one - sum / n);
    // A partial mean is off by an eps of the offset for every merge above it.
    const double variance = static_cast<double>(squares / n);
    const double off = steps * static_cast<double>(magnitudes / n);
    return {variance, 4 * (steps * variance + off * std::sqrt(variance) + off * off)};
  }
  case Monoid::LogSumExp: {
    long double exponentials = 0;
    for (const double one : x)
      exponentials += std::exp(static_cast<long double>(one) - high);
    // An exponential is off by an eps of its exponent.
    const double value = static_cast<double>(high + std::log(exponentials));
    return {value, 4 * (steps + kEps * std::fabs(high)) + kEps * std::fabs(value)};
  }
  case Monoid::ArgMax:
    return {static_cast<long double>(std::max_element(x.begin(), x.end()) - x.begin()), 0};
  }
  return {};
}

/// Merges elements [first, last) as a random tree, with a zero here and there.
Partial tree(const MonoidDefinition &rules, const std::vector<double> &x,
             const std::vector<size_t> &order, size_t first, size_t last, Random &random) {
  if (pick(random, 0, 15) == 0)
    return rules.merge(rules.zero, tree(rules, x, order, first, last, random));
  if (last - first == 1)
    return rules.wrap(x[order[first]], static_cast<double>(order[first]));
  // Halves, a few at one end, or anything.
  const auto size = static_cast<int64_t>(last - first);
  const int64_t shape = pick(random, 0, 3);
  const int64_t left = shape == 0   ? (size + 1) / 2
                       : shape == 1 ? 1
                       : shape == 2 ? size - 1
                                    : pick(random, 1, size - 1);
  return rules.merge(tree(rules, x, order, first, first + left, random),
                     tree(rules, x, order, first + left, last, random));
}

std::vector<double> randomElements(Monoid monoid, int64_t count, Random &random) {
  constexpr double kOffsets[] = {0, 64, 1e4, -1e4};
  const double offset = monoid == Monoid::Product ? 0 : kOffsets[pick(random, 0, 3)];
  std::normal_distribution<double> normal(offset, 1);
  std::vector<double> x(count);
  for (double &one : x)
    one = normal(random);
  if (monoid == Monoid::ArgMax || monoid == Monoid::Max) // ties
    for (double &one : x)
      one = std::round(one);
  return x;
}

TEST(Monoid, EveryTreeIsTheReduction) {
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    const Monoid monoid = kAll[seed % std::size(kAll)];
    const std::vector<double> x = randomElements(monoid, pick(random, 1, 150), random);
    std::vector<size_t> order(x.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (pick(random, 0, 1) == 0)
      std::shuffle(order.begin(), order.end(), random);
    const MonoidDefinition &rules = definition(monoid);
    const Partial all = tree(rules, x, order, 0, x.size(), random);
    const Expected should = expected(monoid, x);
    ASSERT_LE(std::fabs(rules.unwrap(all) - should.value), should.bound)
        << "seed " << seed << ", monoid " << static_cast<int>(monoid);
    ASSERT_EQ(all.count, static_cast<double>(x.size()));
  }
}

TEST(Monoid, TheSquaresOfSumsWouldFailTheBound) {
  // What the bound is for: n, sum and sum of squares cancel at an offset of 1e4.
  Random random(1);
  std::normal_distribution<double> normal(1e4, 1);
  std::vector<double> x(150);
  double sum = 0, squares = 0;
  for (double &one : x) {
    one = normal(random);
    sum += one;
    squares += one * one;
  }
  const Expected should = expected(Monoid::Variance, x);
  const double n = static_cast<double>(x.size());
  EXPECT_GT(std::fabs(squares / n - sum / n * (sum / n) - should.value), 4 * should.bound);
}

TEST(Monoid, ReducesAnyAxesOfATensor) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Monoid monoid = kAll[seed % std::size(kAll)];
    Shape shape(pick(random, 1, 4)), axes, outer;
    for (int64_t &extent : shape)
      extent = pick(random, 1, 5);
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
      (pick(random, 0, 1) == 0 ? axes : outer).push_back(axis);
    const Tensor x(shape, randomElements(monoid, elements(shape), random));
    const bool keepdims = pick(random, 0, 1) == 0;
    const Tensor y = reduce(x, monoid, axes, keepdims);
    // The axes that stay in front, then a row for each result.
    Shape order = outer, kept;
    order.insert(order.end(), axes.begin(), axes.end());
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
      if (const bool isOuter = std::ranges::find(outer, axis) != outer.end(); isOuter || keepdims)
        kept.push_back(isOuter ? shape[axis] : 1);
    ASSERT_EQ(y.shape, kept);
    const Tensor rows = transpose(x, order);
    const size_t length = rows.values.size() / y.values.size();
    for (size_t i = 0; i < y.values.size(); ++i) {
      const auto first = rows.values.begin() + static_cast<std::ptrdiff_t>(i * length);
      const Expected should =
          expected(monoid, {first, first + static_cast<std::ptrdiff_t>(length)});
      ASSERT_LE(std::fabs(y.values[i] - should.value), should.bound) << "seed " << seed;
    }
  }
}

/// Partial results of elements with infinities, NaN and ties among them.
std::vector<Partial> corners(const MonoidDefinition &rules) {
  std::vector<Partial> result{rules.zero};
  double index = 0;
  for (const double x : {0.0, 1.0, -2.5, 1.0, 1e300, -1e300, HUGE_VAL, -HUGE_VAL, std::nan("")})
    result.push_back(rules.wrap(x, index++));
  return result;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(Monoid, ZeroChangesNothingAndOrderNeither) {
  for (const Monoid monoid : kAll) {
    const MonoidDefinition &rules = definition(monoid);
    for (const Partial &a : corners(rules)) {
      for (const Partial &both : {rules.merge(rules.zero, a), rules.merge(a, rules.zero)}) {
        EXPECT_EQ(both.count, a.count);
        if (a.count > 0) {
          EXPECT_TRUE(same(both.value, a.value));
          EXPECT_TRUE(same(both.more, a.more));
        }
      }
      for (const Partial &b : corners(rules)) {
        const double one = rules.unwrap(rules.merge(a, b)), other = rules.unwrap(rules.merge(b, a));
        if (a.count + b.count > 0)
          EXPECT_TRUE(same(one, other)) << static_cast<int>(monoid) << ": " << one << ' ' << other;
      }
    }
  }
}

} // namespace
} // namespace sluice::reference
