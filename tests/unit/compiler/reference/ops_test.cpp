// The golden functions against values worked out by hand and against identities.
#include "compiler/reference/ops.h"

#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::reference {
namespace {

using testing::ElementsAre;

Tensor ramp(const Shape &shape, double first = 0) {
  Tensor tensor(shape);
  std::iota(tensor.values.begin(), tensor.values.end(), first);
  return tensor;
}

TEST(Reference, Transpose) {
  const Tensor result = transpose(ramp({2, 3}), {1, 0});
  EXPECT_EQ(result, Tensor({3, 2}, {0, 3, 1, 4, 2, 5}));
  // Axis i of the result is axis permutation[i]: [2 3 4] with (1 2 0) is [3 4 2].
  const Tensor three = transpose(ramp({2, 3, 4}), {1, 2, 0});
  EXPECT_THAT(three.shape, ElementsAre(3, 4, 2));
  EXPECT_EQ(three.values[(2 * 4 + 1) * 2 + 1], (1 * 3 + 2) * 4 + 1);
}

TEST(Reference, Selections) {
  EXPECT_EQ(slice(ramp({2, 5}), {1, 4}, {1, 3}, {1, -2}), Tensor({1, 3}, {9, 7, 5}));
  EXPECT_EQ(broadcast(ramp({2, 1}), {2, 3}), Tensor({2, 3}, {0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(broadcast(ramp({1, 2}), {2, 2}), Tensor({2, 2}, {0, 1, 0, 1}));
  EXPECT_EQ(pad(ramp({1, 2}, 1), {1, 0}, {0, 2}, -1),
            Tensor({2, 4}, {-1, -1, -1, -1, 1, 2, -1, -1}));
  EXPECT_EQ(reshape(ramp({2, 3}), {6}), ramp({6}));
  EXPECT_EQ(tile(ramp({2, 2}), {2, 2}),
            Tensor({4, 4}, {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(repeat(ramp({2, 2}), {2, 3}), Tensor({4, 6}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1,
                                                          2, 2, 2, 3, 3, 3, 2, 2, 2, 3, 3, 3}));
  const Tensor low = ramp({2, 2}), high = ramp({2, 2}, 10);
  EXPECT_EQ(interleave({&low, &high}, 0), Tensor({4, 2}, {0, 1, 10, 11, 2, 3, 12, 13}));
  EXPECT_EQ(interleave({&low, &high, &low}, 1),
            Tensor({2, 6}, {0, 10, 0, 1, 11, 1, 2, 12, 2, 3, 13, 3}));
  const Tensor a = ramp({2, 1}), b = ramp({2, 2}, 10);
  EXPECT_EQ(concat({&a, &b}, 1), Tensor({2, 3}, {0, 10, 11, 1, 12, 13}));
  EXPECT_EQ(concat({&b, &b}, 0), Tensor({4, 2}, {10, 11, 12, 13, 10, 11, 12, 13}));
}

TEST(Reference, Window) {
  // Positions -1, 1 of elements 2 apart: outside is -1.
  EXPECT_EQ(window(ramp({1, 4}), {{1}, {3}, {2}, {-1}, {2}, {2}}, -1),
            Tensor({1, 2, 3}, {-1, 1, 3, 1, 3, -1}));
  // Two axes of three, positions in place, elements behind; x[a][b][c] = 9 a + 3 b + c.
  const Tensor seen = window(ramp({3, 3, 3}), {{0, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 1}, {1, 1}}, 0);
  EXPECT_THAT(seen.shape, ElementsAre(2, 3, 1, 2, 2));
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t k = 0; k < 2; ++k) {
          const bool inside = 1 + a + i < 3;
          EXPECT_EQ(seen.values[((a * 3 + b) * 2 + i) * 2 + k],
                    inside ? 9 * (1 + a + i) + 3 * b + 1 + k : 0);
        }
  EXPECT_EQ(window(ramp({2}), {}, 0), ramp({2}));
}

TEST(Reference, Rank0) {
  const Tensor scalar({}, {3});
  EXPECT_EQ(transpose(scalar, {}), scalar);
  EXPECT_EQ(slice(scalar, {}, {}, {}), scalar);
  EXPECT_EQ(reduce(scalar, Monoid::Sum, {}, false), scalar);
  EXPECT_EQ(reduce(ramp({2, 2}), Monoid::Sum, {0, 1}, false), Tensor({}, {6}));
}

TEST(Reference, Reduce) {
  const Tensor input({2, 3}, {1, -2, 4, 3, 0, -1});
  EXPECT_EQ(reduce(input, Monoid::Sum, {0}, false), Tensor({3}, {4, -2, 3}));
  EXPECT_EQ(reduce(input, Monoid::Sum, {1}, true), Tensor({2, 1}, {3, 2}));
  EXPECT_EQ(reduce(input, Monoid::Product, {1}, false), Tensor({2}, {-8, 0}));
  EXPECT_EQ(reduce(input, Monoid::Max, {1}, false), Tensor({2}, {4, 3}));
  EXPECT_EQ(reduce(input, Monoid::Min, {0}, false), Tensor({3}, {1, -2, -1}));
  EXPECT_EQ(reduce(input, Monoid::Mean, {1}, false), Tensor({2}, {1, 2.0 / 3}));
  const Tensor variance =
      reduce(Tensor({4}, {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}), Monoid::Variance, {0}, false);
  EXPECT_DOUBLE_EQ(variance.values[0], 1.25);
}

TEST(Reference, ArgMaxIsTheFirst) {
  const Tensor input({2, 3}, {1, 4, 4, 3, 0, -1});
  EXPECT_EQ(reduce(input, Monoid::ArgMax, {1}, false), Tensor({2}, {1, 0}));
  EXPECT_EQ(reduce(input, Monoid::ArgMax, {0}, true), Tensor({1, 3}, {1, 0, 0}));
  EXPECT_EQ(reduce(input, Monoid::ArgMax, {0, 1}, false), Tensor({}, {1}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(reduce(Tensor({4}, {1, nan, 5, nan}), Monoid::ArgMax, {0}, false), Tensor({}, {1}));
}

TEST(Reference, LogSumExpDoesNotOverflow) {
  const Tensor result = reduce(Tensor({3}, {1000, 1000, 999}), Monoid::LogSumExp, {0}, false);
  EXPECT_NEAR(result.values[0], 1000 + std::log(2 + std::exp(-1)), 1e-9);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(reduce(Tensor({2}, {-infinity, -infinity}), Monoid::LogSumExp, {0}, false).values[0],
            -infinity);
}

TEST(Reference, NanReachesMaxAndMin) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Monoid monoid : {Monoid::Max, Monoid::Min, Monoid::LogSumExp}) {
    EXPECT_TRUE(std::isnan(reduce(Tensor({2}, {nan, 1}), monoid, {0}, false).values[0]));
    EXPECT_TRUE(std::isnan(reduce(Tensor({2}, {1, nan}), monoid, {0}, false).values[0]));
  }
}

TEST(Reference, Matmul) {
  const Tensor a({2, 2}, {1, 2, 3, 4}), b({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(matmul(a, b), Tensor({2, 2}, {19, 22, 43, 50}));
  EXPECT_EQ(matmul(a, Tensor({2}, {1, 10})), Tensor({2}, {21, 43}));
  EXPECT_EQ(matmul(Tensor({2}, {1, 10}), a), Tensor({2}, {31, 42}));
  EXPECT_EQ(matmul(Tensor({2}, {1, 10}), Tensor({2}, {3, 4})), Tensor({}, {43}));
}

TEST(Reference, MatmulBroadcastsBatches) {
  const Tensor a = ramp({3, 1, 2, 4}), b = ramp({5, 4, 2}, 7);
  const Tensor result = matmul(a, b);
  ASSERT_THAT(result.shape, ElementsAre(3, 5, 2, 2));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j)
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t column = 0; column < 2; ++column) {
          double sum = 0;
          for (int64_t k = 0; k < 4; ++k)
            sum += a.values[(i * 2 + row) * 4 + k] * b.values[(j * 4 + k) * 2 + column];
          EXPECT_EQ(result.values[((i * 5 + j) * 2 + row) * 2 + column], sum);
        }
}

TEST(Reference, ContractWithARunningBatchAxis) {
  // Depthwise: c and t run over the result, k is summed.
  const Tensor x = ramp({2, 3, 2}), w({2, 2}, {1, 10, 100, 1000});
  EXPECT_EQ(contract(x, {0, 1, 2}, w, {0, 2}, {0, 1}, {2, 3, 2}),
            Tensor({2, 3}, {10, 32, 54, 7600, 9800, 12000}));
}

/// Windows whose neighbours in the result are far apart, and weights with the summed axis
/// innermost.
TEST(Reference, ContractSumsInAscendingOrderWhateverTheStrides) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> value(-1, 1);
  const auto filled = [&](const Shape &shape) {
    Tensor tensor(shape);
    for (double &one : tensor.values)
      one = value(random);
    return tensor;
  };
  for (const int64_t taps : {1, 3, 20})
    for (const int64_t outputs : {1, 4, 9}) {
      const int64_t places = 7, channels = 2;
      const Tensor x = filled({channels, places, taps}), w = filled({outputs, channels, taps});
      Tensor wanted({outputs, places});
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t t = 0; t < places; ++t)
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t k = 0; k < taps; ++k)
              wanted.values[o * places + t] +=
                  x.values[(c * places + t) * taps + k] * w.values[(o * channels + c) * taps + k];
      EXPECT_EQ(contract(x, {2, 1, 3}, w, {0, 2, 3}, {0, 1}, {outputs, places, channels, taps}),
                wanted)
          << taps << ' ' << outputs;
      EXPECT_EQ(contract(w, {0, 2, 3}, x, {2, 1, 3}, {0, 1}, {outputs, places, channels, taps}),
                wanted)
          << taps << ' ' << outputs;
    }
}

TEST(Reference, SliceUndoesPadAndConcat) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    const Shape shape = {pick(1, 4), pick(1, 4), pick(1, 4)};
    const Tensor x = ramp(shape, 1);
    const Shape low = {pick(0, 2), pick(0, 2), pick(0, 2)}, high = {pick(0, 2), 0, pick(0, 2)};
    EXPECT_EQ(slice(pad(x, low, high, -5), low, shape, {1, 1, 1}), x);
    const int64_t axis = pick(0, 2);
    Shape start(3, 0);
    start[axis] = shape[axis];
    EXPECT_EQ(slice(concat({&x, &x}, axis), start, shape, {1, 1, 1}), x);
  }
}

TEST(Loop, HandsOnAndStacksUpInBothDirections) {
  // The sum of what came before, of the columns of x from the last to the first.
  const Tensor zero({2}, {0, 0}), x({2, 3}, {1, 2, 3, 10, 20, 30});
  const auto body = [](const std::vector<const Tensor *> &v) {
    const Tensor sum = map({v[0], v[1]}, [](const std::vector<double> &e) { return e[0] + e[1]; });
    return Tensors{sum, sum, *v[1]};
  };
  const Tensors results = loop(3, {&zero}, {&x}, {{1, true}}, {{0, false}, {1, true}}, body);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0], (Tensor{{2}, {6, 60}}));
  EXPECT_EQ(results[1], (Tensor{{3, 2}, {3, 30, 5, 50, 6, 60}}));
  EXPECT_EQ(results[2], x);
}

} // namespace
} // namespace sluice::reference
