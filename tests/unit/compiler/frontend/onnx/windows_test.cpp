// Poolings, pads, transposed convolutions and blocks: what is refused, and what is known by hand.
// The values of every attribute are tested on the engines (tests/ops).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Doubles = std::vector<double>;

/// A node over a run-time tensor and known ones.
struct Case {
  Case(std::string op, const Ints &x, int64_t opset = 22) : model(opset), op(std::move(op)) {
    model.input("x", x).output("y");
    node.emplace(model.node(this->op, {"x"}, {"y"}));
  }
  template <typename Value> Case &with(const std::string &name, const Value &value) {
    node->attribute(name, value);
    return *this;
  }
  Case &with(const std::string &name, const char *value) { return with(name, std::string(value)); }
  Case &ints(const std::string &name, const Ints &values) {
    model.ints(name, {static_cast<int64_t>(values.size())}, values);
    node->proto->add_input(name);
    return *this;
  }
  Case &zeros(const std::string &name, const Ints &shape) {
    int64_t count = 1;
    for (const int64_t extent : shape)
      count *= extent;
    model.floats(name, shape, Floats(count, 0));
    node->proto->add_input(name);
    return *this;
  }
  /// What is required, and what was found instead; or "".
  std::string problem(const std::string &code = "E0206") const {
    const std::string text = import(model).messages();
    const std::string start = code + " node 0 (" + op + "): " + op + ": ";
    return text.starts_with(start) && text.find("; found ") != std::string::npos
               ? text.substr(start.size())
               : text;
  }
  Model model;
  std::string op;
  std::optional<Node> node;
};

Case pooling(const std::string &op, const Ints &kernel = {2, 2}) {
  Case one(op, {1, 3, 5, 6});
  one.with("kernel_shape", kernel);
  return one;
}

TEST(Pooling, ChecksItsAttributes) {
  for (const char *op : {"MaxPool", "AveragePool", "LpPool"}) {
    EXPECT_EQ(pooling(op).problem(), "");
    EXPECT_EQ(Case(op, {3, 4}).with("kernel_shape", Ints{2}).problem(),
              "input 'X' must have rank 3 or more: batch, channels and spatial axes; found [3 4]");
    EXPECT_EQ(pooling(op, {2}).problem(),
              "attribute 'kernel_shape' must have one element per spatial axis, in [1, "
              "2147483647]; found [2] for [1 3 5 6]");
    EXPECT_EQ(pooling(op, {6, 1}).problem(), "the window must fit into the padded input; found a "
                                             "window of 6 for 5 elements along axis 2");
    EXPECT_EQ(pooling(op).with("pads", Ints{0, 0, 0, 2}).problem(),
              "the pads of an axis must be smaller than the window; found pads 0 and 2 for a "
              "window over 2 elements of axis 3");
    EXPECT_EQ(Case(op, {1, 3, 5, 6}).problem("E0203"),
              "attribute 'kernel_shape' must be a list of ints (required); found none");
  }
}

TEST(Pooling, ANormIsOfOrderOneOrTwo) {
  for (const char *op : {"LpPool", "GlobalLpPool"}) {
    Case one(op, {1, 3, 5, 6});
    if (std::string(op) == "LpPool")
      one.with("kernel_shape", Ints{2, 2});
    EXPECT_EQ(one.with("p", int64_t{3}).problem("E0205"), "attribute 'p' must be 1 or 2; found 3");
  }
}

TEST(Pooling, AnAverageIsOfSomething) {
  Case gaps("AveragePool", {1, 1, 1});
  gaps.with("kernel_shape", Ints{2}).with("dilations", Ints{2}).with("pads", Ints{1, 1});
  EXPECT_EQ(gaps.problem(), "the average must include at least one element at every position; "
                            "found none at position 0 along axis 2");
  EXPECT_EQ(gaps.with("count_include_pad", int64_t{1}).problem(), "");
  Case many("AveragePool", {1, 1, 20000000});
  EXPECT_EQ(many.with("kernel_shape", Ints{2}).problem("E0205"),
            "the window must have at most 16777216 positions; found [19999999]");
}

TEST(Pooling, DividesByWhatItSees) {
  Case one("AveragePool", {1, 1, 4});
  one.with("kernel_shape", Ints{2}).with("pads", Ints{1, 1});
  EXPECT_EQ(evaluateModel(one.model, {counting({1, 1, 4})}).values, (Doubles{0, 0.5, 1.5, 2.5, 3}));
  EXPECT_THAT(import(one.model).text(), HasSubstr("sluice.reduce sum"));
  one.with("count_include_pad", int64_t{1});
  EXPECT_EQ(evaluateModel(one.model, {counting({1, 1, 4})}).values,
            (Doubles{0, 0.5, 1.5, 2.5, 1.5}));
  EXPECT_THAT(import(one.model).text(), HasSubstr("sluice.reduce mean"));
}

TEST(ConvTranspose, ChecksShapes) {
  const auto node = [](const Ints &weights, const Ints &x = {1, 4, 6}) {
    Case one("ConvTranspose", x);
    one.zeros("w", weights);
    return one;
  };
  EXPECT_EQ(node({4, 2, 3}).problem(), "");
  EXPECT_EQ(node({4, 2, 3, 3}).problem(),
            "input 'W' must have the rank of 'X' and no extent 0; found [4 2 3 3] for [1 4 6]");
  EXPECT_EQ(node({3, 2, 3}).problem(),
            "attribute 'group' must divide the channels, and 'W' must have as many channels as "
            "'X'; found group 1, [1 4 6] of 'X' and [3 2 3] of 'W'");
  EXPECT_EQ(node({4, 2, 3}).with("group", int64_t{3}).problem(),
            "attribute 'group' must divide the channels, and 'W' must have as many channels as "
            "'X'; found group 3, [1 4 6] of 'X' and [4 2 3] of 'W'");
  EXPECT_EQ(node({4, 2, 3}).with("group", int64_t{2}).zeros("b", {2}).problem(),
            "input 'B' must have one element per output channel of 'W' and group; found [2] for [4 "
            "2 3] and group 2");
  EXPECT_EQ(node({4, 2, 3}).with("kernel_shape", Ints{4}).problem(),
            "attribute 'kernel_shape' must be the kernel of 'W'; found [4] for [4 2 3]");
  EXPECT_EQ(node({4, 2, 3}).with("output_padding", Ints{2}).with("strides", Ints{2}).problem(),
            "'output_padding' must have one element per spatial axis, below its stride or "
            "dilation; found [2], strides [2] and dilations [1]");
  EXPECT_EQ(node({4, 2, 3}).with("output_shape", Ints{15}).with("strides", Ints{2}).problem(),
            "'output_shape' must be at most the result with the largest 'output_padding'; found "
            "[15], at most [14]");
  EXPECT_EQ(node({4, 2, 3}).with("output_shape", Ints{14}).with("strides", Ints{2}).problem(), "");
  EXPECT_EQ(node({4, 2, 3}).with("pads", Ints{4, 4}).problem(),
            "the result must have an extent in [1, 2147483647] along every axis; found [0]");
  EXPECT_EQ(
      node({4, 2, 3}).with("strides", Ints{2147483647}).problem(),
      "the result must have an extent in [1, 2147483647] along every axis; found [10737418238]");
  EXPECT_EQ(node({4, 2, 3}).with("strides", Ints{5000}).problem("E0205"),
            "the strides must make at most 1024 phases; found [5000]");
  Case groups = node({8192, 2, 3}, {1, 8192, 6});
  EXPECT_EQ(groups.with("group", int64_t{8192}).problem("E0205"),
            "constant weights, expanded over all groups, must have at most 16777216 elements; "
            "found [8192 16384 3]");
}

TEST(ConvTranspose, TakesWeightsThatAreComputed) {
  Model model;
  model.input("x", {1, 2, 2}).input("w", {2, 1, 3}).output("y");
  model.node("ConvTranspose", {"x", "w"}, {"y"}).attribute("strides", Ints{2});
  // x is 0, 1 and 2, 3; w is 0..2 and 3..5
  EXPECT_EQ(evaluateModel(model, {counting({1, 2, 2}), counting({2, 1, 3})}).values,
            (Doubles{6, 8, 10 + 9, 1 + 12, 2 + 15}));
  model.graph().mutable_node(0)->clear_attribute();
  Node(model.graph().mutable_node(0)).attribute("group", int64_t{2});
  EXPECT_EQ(evaluateModel(model, {counting({1, 2, 2}), counting({2, 1, 3})}).values,
            (Doubles{0, 0, 1, 2, 6, 8 + 9, 10 + 12, 15}));
}

TEST(ConvTranspose, MultipliesNoInsertedZeros) {
  Model model(11);
  model.input("x", {1, 1, 3}).output("y", {1, 1, 8}).floats("w", {1, 1, 4}, {1, 10, 100, 1000});
  model.node("ConvTranspose", {"x", "w"}, {"y"}).attribute("strides", Ints{2});
  EXPECT_EQ(evaluateModel(model, {{{1, 1, 3}, {1, 2, 3}}}).values,
            (Doubles{1, 10, 102, 1020, 203, 2030, 300, 3000}));
  // Two phases of two elements each, over the input as it is.
  EXPECT_THAT(import(model).text(),
              HasSubstr("sizes [2] counts [4] starts [-1] strides [1] dilations [1]"));
}

Case pad(const Ints &pads, const char *mode = "constant", const Ints &x = {2, 5}) {
  Case one("Pad", x, 19);
  one.ints("p", pads).with("mode", mode);
  return one;
}

TEST(Pad, ChecksItsOperands) {
  EXPECT_EQ(pad({0, 1, 0, 2}).problem(), "");
  EXPECT_EQ(pad({0, 1, 0, 2}, "mirror").problem(),
            "attribute 'mode' must be constant, reflect, edge or wrap; found 'mirror'");
  EXPECT_EQ(Case("Pad", {2, 5}, 13).ints("p", {0, 0, 0, 0}).with("mode", "wrap").problem(),
            "attribute 'mode' must be constant, reflect or edge; found 'wrap'");
  const std::string two =
      "'pads' must have two elements per padded axis, in [-2147483647, 2147483647]; found ";
  EXPECT_EQ(pad({0, 1, 0}).problem(), two + "[0 1 0] for [2 5]");
  EXPECT_EQ(pad({0, INT64_MIN, 0, 0}).problem(), two + "[0 -9223372036854775808 0 0] for [2 5]");
  EXPECT_EQ(
      pad({0, -3, 0, -2}).problem(),
      "negative 'pads' must leave at least one element of an axis; found [0 -3 0 -2] for [2 5]");
  EXPECT_EQ(pad({0, 0, 0, 0}).zeros("v", {2}).problem(),
            "input 'constant_value' must have one element; found [2]");
  EXPECT_EQ(pad({1, 1}).zeros("v", {1}).ints("a", {2}).problem(),
            "'axes' must be distinct axes of 'data'; found axis 2 for rank 2");
  const std::string most = "'pads' must be below the extent of their axis to reflect it, and at "
                           "most the extent to wrap it; found ";
  EXPECT_EQ(pad({0, 0, 0, 4}, "reflect").problem(), "");
  EXPECT_EQ(pad({0, 0, 0, 5}, "reflect").problem("E0205"), most + "0 and 5 for extent 5 of axis 1");
  EXPECT_EQ(pad({2, 0, 0, 0}, "reflect").problem("E0205"), most + "2 and 0 for extent 2 of axis 0");
  EXPECT_EQ(pad({0, 5, 0, 5}, "wrap").problem(), "");
  EXPECT_EQ(pad({0, 6, 0, 0}, "wrap").problem("E0205"), most + "6 and 0 for extent 5 of axis 1");
  EXPECT_EQ(pad({0, 2147483647, 0, 2147483647}).problem(),
            "E0206 node 0 (Pad): Pad: the result has more than 2147483647 elements");
  EXPECT_EQ(pad({0, 2147483647, 0, 0}, "edge").problem(),
            "E0206 node 0 (Pad): Pad: the result has more than 2147483647 elements");
}

TEST(Pad, NeedsKnownPads) {
  Model model(13);
  model.input("x", {2, 5}).input("v", {1}).ints("p", {4}, {0, 0, 0, 1}).output("y").output("z");
  model.node("ArgMax", {"x"}, {"q"}).attribute("axis", int64_t{1});
  model.node("Pad", {"x", "q"}, {"y"});
  model.node("Pad", {"x", "p", "v"}, {"z"});
  EXPECT_EQ(import(model).messages(),
            "E0205 node 1 (Pad): Pad: input 'pads' must be known at compile time (a constant, or "
            "computed from constants and shapes); found a run-time tensor int64 [2 1]\n"
            "E0205 node 2 (Pad): Pad: input 'constant_value' must be known at compile time (a "
            "constant, or computed from constants and shapes); found a run-time tensor float [1]");
}

TEST(Pad, CutsBeforeItAdds) {
  Case one = pad({0, -1, 0, 2}, "edge", {1, 4});
  EXPECT_EQ(evaluateModel(one.model, {counting({1, 4})}).values, (Doubles{1, 2, 3, 3, 3}));
  one = pad({0, 2, 0, -1}, "reflect", {1, 4});
  EXPECT_EQ(evaluateModel(one.model, {counting({1, 4})}).values, (Doubles{2, 1, 0, 1, 2}));
  one = pad({0, 2, 0, 1}, "wrap", {1, 4});
  EXPECT_EQ(evaluateModel(one.model, {counting({1, 4})}).values, (Doubles{2, 3, 0, 1, 2, 3, 0}));
}

TEST(DepthToSpace, ChecksTheBlocks) {
  const auto node = [](const char *op, int64_t size, const Ints &x) {
    Case one(op, x, 13);
    one.with("blocksize", size);
    return one;
  };
  EXPECT_EQ(node("DepthToSpace", 2, {1, 8, 3, 3}).problem(), "");
  EXPECT_EQ(node("DepthToSpace", 2, {8, 3, 3}).problem(),
            "input 'input' must have rank 4: batch, channels, height and width; found [8 3 3]");
  for (const int64_t size : {int64_t{0}, int64_t{3}, INT64_MAX})
    EXPECT_EQ(node("DepthToSpace", size, {1, 8, 3, 3}).problem(),
              "the square of attribute 'blocksize' must divide the channels; found blocksize " +
                  std::to_string(size) + " for [1 8 3 3]");
  EXPECT_EQ(node("DepthToSpace", 2, {1, 8, 3, 3}).with("mode", "RCD").problem(),
            "attribute 'mode' must be DCR or CRD; found 'RCD'");
  for (const int64_t size : {int64_t{-2}, int64_t{4}})
    EXPECT_EQ(node("SpaceToDepth", size, {1, 8, 4, 6}).problem(),
              "attribute 'blocksize' must divide height and width; found blocksize " +
                  std::to_string(size) + " for [1 8 4 6]");
}

} // namespace
} // namespace sluice::frontend::test
