#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using Doubles = std::vector<double>;

Model cumSum(const Ints &axis, int64_t exclusive, int64_t reverse) {
  Model model(14);
  model.input("x", {2, 3}).ints("axis", {static_cast<int64_t>(axis.size())}, axis).output("y");
  model.node("CumSum", {"x", "axis"}, {"y"})
      .attribute("exclusive", exclusive)
      .attribute("reverse", reverse);
  return model;
}

Doubles sums(const Ints &axis, int64_t exclusive, int64_t reverse) {
  return evaluateModel(cumSum(axis, exclusive, reverse), {counting({2, 3})}).values;
}

TEST(CumSum, AlongAnyAxis) {
  EXPECT_EQ(sums({1}, 0, 0), (Doubles{0, 1, 3, 3, 7, 12}));
  EXPECT_EQ(sums({-1}, 1, 0), (Doubles{0, 0, 1, 0, 3, 7}));
  EXPECT_EQ(sums({1}, 0, 1), (Doubles{3, 3, 2, 12, 9, 5}));
  EXPECT_EQ(sums({1}, 1, 1), (Doubles{3, 2, 0, 9, 5, 0}));
  EXPECT_EQ(sums({0}, 0, 0), (Doubles{0, 1, 2, 3, 5, 7}));
}

TEST(CumSum, RefusesOtherAxes) {
  EXPECT_EQ(import(cumSum({2}, 0, 0)).messages(),
            "E0206 node 0 (CumSum): CumSum requires: input 'axis' is one axis of 'x', in [-rank, "
            "rank-1]; found [2] at rank 2");
  EXPECT_EQ(import(cumSum({0, 1}, 0, 0)).messages(),
            "E0206 node 0 (CumSum): CumSum requires: input 'axis' is one axis of 'x', in [-rank, "
            "rank-1]; found [0 1] at rank 2");
  Model model(14);
  model.input("x", {5000}).ints("axis", {}, {0}).output("y");
  model.node("CumSum", {"x", "axis"}, {"y"});
  EXPECT_EQ(import(model).messages(),
            "E0205 node 0 (CumSum): CumSum requires: 'axis' has at most 4096 elements; found 5000");
}

} // namespace
} // namespace sluice::frontend::test
