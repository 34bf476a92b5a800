#include "compiler/check/inputs.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "compiler/check/rounding.h"

namespace sluice::check {
namespace {

using reference::Shape;
using reference::Tensor;

double largest(const Tensor &tensor) {
  double most = 0;
  for (const double value : tensor.values)
    most = std::max(most, std::abs(value));
  return most;
}

TEST(Inputs, AreTheSameForTheSameSeed) {
  EXPECT_EQ(randomInput({4, 5}, Kind::Unit, 7, 2), randomInput({4, 5}, Kind::Unit, 7, 2));
  EXPECT_NE(randomInput({4, 5}, Kind::Unit, 7, 2), randomInput({4, 5}, Kind::Unit, 7, 3));
  EXPECT_NE(randomInput({4, 5}, Kind::Unit, 7, 2), randomInput({4, 5}, Kind::Unit, 8, 2));
}

TEST(Inputs, AreNumbersThatTheMachineTakes) {
  for (size_t kind = 0; kind < kKinds; ++kind)
    for (const double value : randomInput({3, 50}, kindOf(kind), 1, 0).values)
      EXPECT_EQ(value, nearestBf16(value));
  EXPECT_EQ(kindOf(kKinds), kindOf(0));
}

TEST(Inputs, HaveTheScaleOfTheirKind) {
  const Shape shape{1000};
  EXPECT_GT(largest(randomInput(shape, Kind::Large, 1, 0)), 200);
  EXPECT_LT(largest(randomInput(shape, Kind::Small, 1, 0)), 0.06);
  const Tensor positive = randomInput(shape, Kind::Positive, 1, 0);
  EXPECT_GE(*std::ranges::min_element(positive.values), 0);
  const Tensor constant = randomInput(shape, Kind::Constant, 1, 0);
  EXPECT_EQ(std::ranges::count(constant.values, constant.values[0]), 1000);
  const Tensor offset = randomInput(shape, Kind::Offset, 1, 0);
  EXPECT_GT(*std::ranges::min_element(offset.values), 55);
}

TEST(Inputs, HaveOneOneInEachRow) {
  const Tensor hot = randomInput({20, 7}, Kind::OneHot, 1, 0);
  for (int64_t row = 0; row < 20; ++row) {
    const auto from = hot.values.begin() + row * 7;
    EXPECT_EQ(std::count(from, from + 7, 1), 1);
    EXPECT_EQ(std::count(from, from + 7, 0), 6);
  }
  EXPECT_EQ(randomInput({}, Kind::OneHot, 1, 0).values.size(), 1U);
}

} // namespace
} // namespace sluice::check
