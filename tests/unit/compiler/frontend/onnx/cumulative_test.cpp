#include <gtest/gtest.h>

#include "one_node.h"

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
            "E0206 node 0 (CumSum): CumSum: input 'axis' must be one axis of 'x', in [-rank, "
            "rank-1]; found [2] for rank 2");
  EXPECT_EQ(import(cumSum({0, 1}, 0, 0)).messages(),
            "E0206 node 0 (CumSum): CumSum: input 'axis' must be one axis of 'x', in [-rank, "
            "rank-1]; found [0 1] for rank 2");
  Model model(14);
  model.input("x", {5000}).ints("axis", {}, {0}).output("y");
  model.node("CumSum", {"x", "axis"}, {"y"});
  EXPECT_EQ(import(model).messages(),
            "E0205 node 0 (CumSum): CumSum: 'axis' must have at most 4096 elements; found 5000");
}

TEST(CumProd, WrapsKnownIntegersAround) {
  const auto products = [](const Ints &x, int type, int64_t exclusive, int64_t reverse) {
    Model model = OneNodeModel("CumProd", 26)
                      .ints({4}, x, type)
                      .ints({}, {0})
                      .with("exclusive", exclusive)
                      .with("reverse", reverse)
                      .model;
    model.graph().mutable_node(0)->set_output(0, "known");
    model.input("x", {});
    model.node("Cast", {"known"}, {"number"}).attribute("to", int64_t{1});
    model.node("Add", {"number", "x"}, {"y"});
    return evaluateModel(model, {reference::Tensor({}, {0})}).values;
  };
  const Ints x = {3, -2, 5, 7};
  EXPECT_EQ(products(x, onnx::TensorProto::INT64, 0, 0), (Doubles{3, -6, -30, -210}));
  EXPECT_EQ(products(x, onnx::TensorProto::INT64, 1, 1), (Doubles{-70, 35, 7, 1}));
  EXPECT_EQ(products(x, onnx::TensorProto::INT8, 0, 0), (Doubles{3, -6, -30, 46}));
}

TEST(CumProd, RefusesOtherAxes) {
  EXPECT_EQ(OneNodeModel("CumProd", 26).input({2, 3}).ints({}, {2}).problem(),
            "E0206 input 'axis' must be one axis of 'x', in [-rank, rank-1]; found [2] for rank 2");
  EXPECT_EQ(import(OneNodeModel("CumProd", 25).input({2, 3}).ints({}, {1}).model).messages(),
            "E0202 node 0 (CumProd): operator 'CumProd' exists since opset 26, but the model uses "
            "opset 25");
}

} // namespace
} // namespace sluice::frontend::test
