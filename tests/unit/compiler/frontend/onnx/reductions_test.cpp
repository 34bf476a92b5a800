#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Doubles = std::vector<double>;

Model reducing(const char *op, int64_t opset, const Ints &axes, int64_t keepdims) {
  Model model(opset);
  model.input("x", {2, 3}).output("y");
  const bool asInput = opset >= 18;
  Node node = model.node(op, asInput ? Names{"x", "axes"} : Names{"x"}, {"y"});
  node.attribute("keepdims", keepdims);
  if (asInput)
    model.ints("axes", {static_cast<int64_t>(axes.size())}, axes);
  else
    node.attribute("axes", axes);
  return model;
}

TEST(Reductions, InEveryOpset) {
  const reference::Tensor x({2, 3}, {3, 4, 0, -1, 2, 2});
  for (auto [op, expected] : {std::pair{"ReduceMax", Doubles{4, 2}},
                              {"ReduceMin", Doubles{0, -1}},
                              {"ReduceMean", Doubles{7.0 / 3, 1}},
                              {"ReduceSumSquare", Doubles{25, 9}},
                              {"ReduceL2", Doubles{5, 3}},
                              {"ReduceL1", Doubles{7, 5}},
                              {"ReduceProd", Doubles{0, -4}}})
    for (int64_t opset : {7, 11, 13, 17, 18, 23})
      for (int64_t keepdims : {0, 1}) {
        const reference::Tensor y = evaluateModel(reducing(op, opset, {-1}, keepdims), {x});
        EXPECT_EQ(y.values, expected) << op << " " << opset;
        EXPECT_EQ(y.shape, keepdims ? (Ints{2, 1}) : (Ints{2}));
      }
}

TEST(Reductions, LogarithmsOfSums) {
  const reference::Tensor x({2, 3}, {1, 2, 1, 0, 5, 3});
  for (int64_t opset : {7, 13, 18}) {
    EXPECT_NEAR(evaluateModel(reducing("ReduceLogSum", opset, {1}, 0), {x}).values[1], std::log(8),
                1e-6);
    EXPECT_NEAR(evaluateModel(reducing("ReduceLogSumExp", opset, {1}, 0), {x}).values[0],
                std::log(2 * std::exp(1) + std::exp(2)), 1e-6);
  }
}

/// Ties: the first index, or the last one if the node says so.
TEST(ArgReductions, NameTheFirstOrTheLast) {
  const reference::Tensor x({2, 4}, {1, 7, 7, 2, 5, 3, 4, 3});
  const auto indices = [&](const char *op, int64_t opset, int64_t last) {
    Model model(opset);
    model.input("x", {2, 4}).output("y", {2, 1}, onnx::TensorProto::INT64);
    Node node = model.node(op, {"x"}, {"y"}).attribute("axis", int64_t{-1});
    if (last)
      node.attribute("select_last_index", last);
    return evaluateModel(model, {x}).values;
  };
  for (int64_t opset : {11, 12, 13}) {
    EXPECT_EQ(indices("ArgMax", opset, 0), (Doubles{1, 0}));
    EXPECT_EQ(indices("ArgMin", opset, 0), (Doubles{0, 1}));
  }
  EXPECT_EQ(indices("ArgMax", 13, 1), (Doubles{2, 0}));
  EXPECT_EQ(indices("ArgMin", 13, 1), (Doubles{0, 3}));
}

TEST(ArgReductions, CheckTheirAxis) {
  Model model(13);
  model.input("x", {2, 4}).output("y");
  model.node("ArgMax", {"x"}, {"y"}).attribute("axis", int64_t{2});
  EXPECT_EQ(import(model).messages(), "E0206 node 0 (ArgMax): ArgMax: attribute 'axis' must be in "
                                      "[-rank, rank-1] of input 'data'; found axis 2 for rank 2");
}

TEST(Reductions, SumTakesAxesAsInputFrom13On) {
  Model model(13);
  model.input("x", {2, 3}).ints("axes", {1}, {0}).output("y");
  model.node("ReduceSum", {"x", "axes"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {counting({2, 3})}).values, (Doubles{3, 5, 7}));
}

TEST(Reductions, WithoutAxesAreOverAll) {
  Model model(18);
  model.input("x", {2, 3}).output("y");
  model.node("ReduceMax", {"x"}, {"y"}).attribute("keepdims", int64_t{0});
  const reference::Tensor y = evaluateModel(model, {counting({2, 3})});
  EXPECT_EQ(y.values, (Doubles{5}));
  EXPECT_TRUE(y.shape.empty());
}

TEST(Reductions, WithoutAxesMayBeNothing) {
  Model model(18);
  model.input("x", {2, 3}).output("y");
  model.node("ReduceSum", {"x"}, {"y"}).attribute("noop_with_empty_axes", int64_t{1});
  EXPECT_EQ(evaluateModel(model, {counting({2, 3})}).values, counting({2, 3}).values);
  EXPECT_THAT(import(model).text(), Not(HasSubstr("sluice.reduce")));
}

TEST(Reductions, RefuseAxesOutOfRangeOrTwice) {
  EXPECT_EQ(import(reducing("ReduceMean", 13, {2}, 1)).messages(),
            "E0206 node 0 (ReduceMean): ReduceMean: 'axes' must be distinct axes of 'data'; found "
            "axis 2 for rank 2");
  EXPECT_EQ(import(reducing("ReduceMean", 18, {1, -1}, 1)).messages(),
            "E0206 node 0 (ReduceMean): ReduceMean: 'axes' must be distinct axes of 'data'; found "
            "axis -1 twice");
}

TEST(Reductions, RefuseAxesThatAreNotKnown) {
  Model model(18);
  model.input("x", {2, 3}).input("axes", {1}).output("y");
  model.node("ReduceMean", {"x", "axes"}, {"y"});
  EXPECT_THAT(import(model).messages(), HasSubstr("E0205 node 0 (ReduceMean): ReduceMean: input "
                                                  "'axes' must be int32 or int64; found float"));
}

TEST(Reductions, OfKnownIntegersAreKnown) {
  const auto reduced = [](const char *op, const Ints &axes, int64_t keepdims) {
    Model model(13);
    model.ints("i", {2, 3}, {5, -2, 7, 1, 0, 4}).input("unused", {1}).output("y");
    const bool asInput = std::string(op) == "ReduceSum";
    if (asInput)
      model.ints("axes", {static_cast<int64_t>(axes.size())}, axes);
    Node node = model.node(op, asInput ? Names{"i", "axes"} : Names{"i"}, {"y"});
    if (!asInput)
      node.attribute("axes", axes);
    node.attribute("keepdims", keepdims);
    return evaluateModel(model, {{{1}, {0}}});
  };
  EXPECT_EQ(reduced("ReduceSum", {0}, 0).values, (Doubles{6, -2, 11}));
  EXPECT_EQ(reduced("ReduceProd", {-1}, 1).values, (Doubles{-70, 0}));
  EXPECT_EQ(reduced("ReduceMax", {0, 1}, 0).values, (Doubles{7}));
  EXPECT_EQ(reduced("ReduceMin", {1}, 0).values, (Doubles{-2, 0}));
}

TEST(Reductions, OfKnownIntegersHaveNoExtremeOfNothing) {
  Model model(13);
  model.ints("i", {0}, {}).input("unused", {1}).output("y");
  model.node("ReduceMax", {"i"}, {"y"});
  EXPECT_EQ(
      import(model).messages(),
      "E0206 node 0 (ReduceMax): ReduceMax: the minimum or maximum of no elements is undefined");
}

} // namespace
} // namespace sluice::frontend::test
