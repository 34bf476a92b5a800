#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

const std::vector<double> kInputs = {-90, -2, -0.5, 0, 1e-3, 1, 7, 90};

std::vector<double> apply(const Model &model) {
  return evaluateModel(model, {{{static_cast<int64_t>(kInputs.size())}, kInputs}}).values;
}

Model unary(const std::string &op, int64_t opset = 13) {
  Model model(opset);
  model.input("x", {static_cast<int64_t>(kInputs.size())}).output("y");
  model.node(op, {"x"}, {"y"});
  return model;
}

std::vector<double> expected(double (*function)(double)) {
  std::vector<double> out;
  for (double x : kInputs)
    out.push_back(function(x));
  return out;
}

MATCHER(Close, "") {
  auto [found, wanted] = arg;
  return std::abs(found - wanted) <= 1e-6 * std::max(1.0, std::abs(wanted));
}

TEST(Activations, ComputeTheirFunctions) {
  EXPECT_THAT(apply(unary("Relu")),
              Pointwise(Close(), expected([](double x) { return x < 0 ? 0 : x; })));
  EXPECT_THAT(apply(unary("Neg")), Pointwise(Close(), expected([](double x) { return -x; })));
  EXPECT_THAT(apply(unary("Tanh")), Pointwise(Close(), expected(std::tanh)));
  EXPECT_THAT(apply(unary("Sigmoid")),
              Pointwise(Close(), expected([](double x) { return 1 / (1 + std::exp(-x)); })));
  EXPECT_THAT(apply(unary("LeakyRelu")),
              Pointwise(Close(), expected([](double x) { return x < 0 ? 0.01F * x : x; })));
  EXPECT_THAT(apply(unary("Elu", 22)),
              Pointwise(Close(), expected([](double x) { return x < 0 ? std::expm1(x) : x; })));
}

TEST(Activations, ReadAlpha) {
  for (int64_t opset : {7, 16, 23}) {
    Model leaky = unary("LeakyRelu", opset), elu = unary("Elu", opset);
    Node(leaky.graph().mutable_node(0)).attribute("alpha", 0.5F);
    Node(elu.graph().mutable_node(0)).attribute("alpha", 2.0F);
    EXPECT_THAT(apply(leaky),
                Pointwise(Close(), expected([](double x) { return x < 0 ? 0.5 * x : x; })));
    EXPECT_THAT(apply(elu), Pointwise(Close(), expected([](double x) {
                                        return x < 0 ? 2 * std::expm1(x) : x;
                                      })));
  }
}

TEST(Activations, AreMapsOfOneOperand) {
  EXPECT_THAT(import(unary("Relu")).text(),
              testing::HasSubstr("%0 = sluice.map (%arg1 = %arg0) : (tensor<8xf32>) -> "
                                 "tensor<8xf32> {\n      %cst = arith.constant 0.000000e+00 : f32\n"
                                 "      %1 = arith.maximumf %arg1, %cst : f32\n"
                                 "      sluice.yield %1\n"));
}

TEST(Activations, AreFloat) {
  Model model;
  model.input("x", {1}).ints("i", {1}, {1}).output("y");
  model.node("Relu", {"i"}, {"y"});
  EXPECT_EQ(import(model).messages(), "E0205 node 0 (Relu): Relu: input 'X' must be float, "
                                      "float16, bfloat16 or double; found int64");
}

TEST(Clip, HasBoundsAsAttributesUpToOpset10) {
  Model model = unary("Clip", 10);
  Node(model.graph().mutable_node(0)).attribute("min", -1.0F).attribute("max", 2.0F);
  EXPECT_THAT(apply(model), Pointwise(Close(), expected([](double x) {
                                        return std::min(std::max(x, -1.0), 2.0);
                                      })));
  EXPECT_THAT(apply(unary("Clip", 10)), Pointwise(Close(), kInputs));
}

TEST(Clip, HasBoundsAsInputsFromOpset11On) {
  for (int64_t opset : {11, 12, 23}) {
    Model model(opset);
    model.input("x", {8}).floats("low", {}, {-1}).floats("high", {1}, {2}).output("y");
    model.node("Clip", {"x", "low", "high"}, {"y"});
    EXPECT_THAT(apply(model), Pointwise(Close(), expected([](double x) {
                                          return std::min(std::max(x, -1.0), 2.0);
                                        })));
    model.graph().mutable_node(0)->set_input(1, "");
    EXPECT_THAT(apply(model),
                Pointwise(Close(), expected([](double x) { return std::min(x, 2.0); })));
  }
}

TEST(Clip, BoundsAreKnownScalars) {
  Model model;
  model.input("x", {8}).input("low", {}).floats("high", {2}, {1, 2}).output("y").output("z");
  model.node("Clip", {"x", "low"}, {"y"});
  model.node("Clip", {"x", "", "high"}, {"z"});
  EXPECT_EQ(import(model).messages(),
            "E0205 node 0 (Clip): Clip: input 'min' must be known at compile time (a constant, or "
            "computed from constants and shapes); found a run-time tensor float []\n"
            "E0206 node 1 (Clip): Clip: inputs 'min' and 'max' must have one element each; found "
            "shape [2]");
}

Model softmax(int64_t opset, const Ints &shape, std::optional<int64_t> axis) {
  Model model(opset);
  model.input("x", shape).output("y");
  Node node = model.node("Softmax", {"x"}, {"y"});
  if (axis)
    node.attribute("axis", *axis);
  return model;
}

/// Softmax over groups: element i belongs to group(i).
std::vector<double> grouped(size_t count, const std::function<size_t(size_t)> &group) {
  std::vector<double> sums(count), out;
  for (size_t i = 0; i < count; ++i)
    sums[group(i)] += std::exp(static_cast<double>(i));
  for (size_t i = 0; i < count; ++i)
    out.push_back(std::exp(static_cast<double>(i)) / sums[group(i)]);
  return out;
}

TEST(Softmax, FlattensUpToOpset12) {
  for (int64_t opset : {7, 11, 12}) {
    auto perRow = grouped(12, [](size_t i) { return i / 6; });
    EXPECT_THAT(
        evaluateModel(softmax(opset, {2, 3, 2}, std::nullopt), {counting({2, 3, 2})}).values,
        Pointwise(Close(), perRow));
    auto whole = grouped(12, [](size_t) { return 0; });
    EXPECT_THAT(evaluateModel(softmax(opset, {2, 3, 2}, 0), {counting({2, 3, 2})}).values,
                Pointwise(Close(), whole));
  }
}

TEST(Softmax, TakesOneAxisFromOpset13On) {
  auto last = grouped(12, [](size_t i) { return i / 2; });
  EXPECT_THAT(evaluateModel(softmax(13, {2, 3, 2}, std::nullopt), {counting({2, 3, 2})}).values,
              Pointwise(Close(), last));
  auto middle = grouped(12, [](size_t i) { return i / 6 * 6 + i % 2; });
  for (int64_t axis : {1, -2})
    EXPECT_THAT(evaluateModel(softmax(13, {2, 3, 2}, axis), {counting({2, 3, 2})}).values,
                Pointwise(Close(), middle));
}

TEST(Softmax, AxisIsInRange) {
  EXPECT_EQ(import(softmax(13, {2, 3}, 2)).messages(),
            "E0206 node 0 (Softmax): Softmax: attribute 'axis' must be in [-rank, rank-1] of input "
            "'input'; found axis 2 for rank 2");
  EXPECT_EQ(import(softmax(13, {}, std::nullopt)).messages(),
            "E0206 node 0 (Softmax): Softmax: attribute 'axis' must be in [-rank, rank-1] of input "
            "'input'; found axis -1 for rank 0");
}

TEST(PRelu, HasASlopePerElement) {
  Model model(16);
  model.input("x", {2, 2}).input("s", {2}).output("y");
  model.node("PRelu", {"x", "s"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {{{2, 2}, {-1, -2, 3, 4}}, {{2}, {0.5, 3}}}).values,
            (std::vector<double>{-0.5, -6, 3, 4}));
}

TEST(PRelu, RefusesASlopeLargerThanItsInput) {
  Model model(16);
  model.input("x", {2}).input("s", {2, 2}).output("y");
  model.node("PRelu", {"x", "s"}, {"y"});
  EXPECT_EQ(import(model).messages(), "E0206 node 0 (PRelu): PRelu: input 'slope' must broadcast "
                                      "to the shape of 'X'; found [2] and [2 2]");
}

} // namespace
} // namespace sluice::frontend::test
