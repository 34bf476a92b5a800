#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Doubles = std::vector<double>;

/// Zeros as weights and bias for x [1 4 6]: what follows is about shapes.
struct Conv {
  explicit Conv(const Ints &weights, const Ints &bias = {}, const Ints &x = {1, 4, 6}) {
    model.input("x", x).output("y");
    int64_t count = 1;
    for (const int64_t extent : weights)
      count *= extent;
    model.floats("w", weights, Floats(count, 0));
    Names inputs = {"x", "w"};
    if (!bias.empty()) {
      model.floats("b", bias, Floats(bias[0], 0));
      inputs.emplace_back("b");
    }
    node.emplace(model.node("Conv", inputs, {"y"}));
  }
  template <typename Value> Conv &with(const std::string &name, const Value &value) {
    node->attribute(name, value);
    return *this;
  }
  /// What is required, and what was found instead; or "".
  std::string problem() const {
    const std::string text = import(model).messages();
    const std::string start = "E0206 node 0 (Conv): Conv: ";
    return text.starts_with(start) && text.find("; found ") != std::string::npos
               ? text.substr(start.size())
               : text;
  }
  Model model{22};
  std::optional<Node> node;
};

TEST(Conv, ChecksShapes) {
  EXPECT_EQ(Conv({2, 4, 3}).problem(), "");
  EXPECT_EQ(Conv({2, 4, 3}, {2}).problem(), "");
  EXPECT_EQ(Conv({2, 4}, {}, {1, 4}).problem(),
            "input 'X' must have rank 3 or more: batch, channels and spatial axes; found [1 4]");
  EXPECT_EQ(Conv({2, 4, 3, 3}).problem(),
            "input 'W' must have the rank of 'X' and no extent 0; found [2 4 3 3] for [1 4 6]");
  EXPECT_EQ(Conv({2, 4, 0}).problem(),
            "input 'W' must have the rank of 'X' and no extent 0; found [2 4 0] for [1 4 6]");
  const std::string group = "'group' must divide the output channels of 'W'; 'X' must have 'group' "
                            "times its input channels; found group ";
  EXPECT_EQ(Conv({2, 3, 3}).problem(), group + "1, [1 4 6] of 'X' and [2 3 3] of 'W'");
  EXPECT_EQ(Conv({3, 2, 3}).with("group", int64_t{2}).problem(),
            group + "2, [1 4 6] of 'X' and [3 2 3] of 'W'");
  EXPECT_EQ(Conv({2, 4, 3}).with("group", int64_t{0}).problem(),
            group + "0, [1 4 6] of 'X' and [2 4 3] of 'W'");
  EXPECT_EQ(Conv({2, 4, 3}).with("group", INT64_MIN).problem(),
            group + "-9223372036854775808, [1 4 6] of 'X' and [2 4 3] of 'W'");
  EXPECT_EQ(Conv({2, 4, 3}, {3}).problem(),
            "input 'B' must have one element per output channel of 'W'; found [3] for [2 4 3]");
  EXPECT_EQ(Conv({2, 4, 3}).with("kernel_shape", Ints{5}).problem(),
            "attribute 'kernel_shape' must be the kernel of 'W'; found [5] for [2 4 3]");
}

TEST(Conv, ChecksTheWindow) {
  const auto sentence = [](const std::string &name) {
    return "attribute '" + name +
           "' must have one element per spatial axis, in [1, 2147483647]; found ";
  };
  for (const char *name : {"strides", "dilations"}) {
    EXPECT_EQ(Conv({2, 4, 3}).with(name, Ints{1, 1}).problem(),
              sentence(name) + "[1 1] for [1 4 6]");
    EXPECT_EQ(Conv({2, 4, 3}).with(name, Ints{0}).problem(), sentence(name) + "[0] for [1 4 6]");
    EXPECT_EQ(Conv({2, 4, 3}).with(name, Ints{INT64_MAX}).problem(),
              sentence(name) + "[9223372036854775807] for [1 4 6]");
  }
  const std::string pads =
      "attribute 'pads' must have two elements per spatial axis, in [0, 2147483647]; found ";
  EXPECT_EQ(Conv({2, 4, 3}).with("pads", Ints{1}).problem(), pads + "[1] for [1 4 6]");
  EXPECT_EQ(Conv({2, 4, 3}).with("pads", Ints{-1, 0}).problem(), pads + "[-1 0] for [1 4 6]");
  EXPECT_EQ(Conv({2, 4, 3}).with("auto_pad", std::string("SAME")).problem(),
            "attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID; found 'SAME'");
  EXPECT_EQ(
      Conv({2, 4, 3}).with("auto_pad", std::string("VALID")).with("pads", Ints{0, 1}).problem(),
      "attribute 'pads' must be left out or 0 unless 'auto_pad' is NOTSET; found [0 1] and VALID");
  EXPECT_EQ(
      Conv({2, 4, 3}).with("auto_pad", std::string("VALID")).with("pads", Ints{0, 0}).problem(),
      "");
  EXPECT_EQ(
      Conv({2, 4, 3}).with("dilations", Ints{4}).with("pads", Ints{1, 1}).problem(),
      "the window must fit into the padded input; found a window of 9 for 8 elements along axis 2");
}

TEST(Conv, BoundsItsWork) {
  Conv groups({16384, 1, 1}, {}, {1, 16384, 6});
  EXPECT_EQ(groups.with("group", int64_t{16384}).problem(),
            "E0205 node 0 (Conv): Conv: constant weights, expanded over all groups, must have at "
            "most 16777216 elements; found [16384 16384 1]");
  const Ints far = {2147483647, 2147483647};
  EXPECT_EQ(Conv({2, 4, 3}).with("pads", far).problem(),
            "E0206 node 0 (Conv): Conv: the count of the window along axis 2 is 4294967298; it "
            "must be in [1, 2147483647]");
  EXPECT_EQ(Conv({2, 4, 1}).with("pads", far).problem(),
            "E0206 node 0 (Conv): Conv: the result has more than 2147483647 elements");
  EXPECT_EQ(Conv({2, 4, 3}).with("pads", far).with("strides", Ints{2147483647}).problem(), "");
  EXPECT_EQ(Conv({2, 4, 3})
                .with("dilations", Ints{2147483647})
                .with("auto_pad", std::string("SAME_UPPER"))
                .problem(),
            "");
}

/// 1, 2, ... in a shape.
Floats counted(int64_t count) {
  Floats out;
  for (int64_t i = 1; i <= count; ++i)
    out.push_back(static_cast<float>(i));
  return out;
}

TEST(Conv, OfOneElementNeedsNoWindow) {
  Model model(11);
  model.input("x", {1, 2, 4}).output("y", {1, 1, 3}).floats("w", {1, 2, 1}, {1, 10});
  model.node("Conv", {"x", "w"}, {"y"}).attribute("strides", Ints{2}).attribute("pads", Ints{2, 0});
  // x is 0..3 and 4..7; positions 0, 2, 4 of the padded input
  EXPECT_EQ(evaluateModel(model, {counting({1, 2, 4})}).values, (Doubles{0, 40, 62}));
  EXPECT_THAT(import(model).text(), Not(HasSubstr("sluice.window")));
}

TEST(Conv, WritesGroupsAsOne) {
  Model model(7);
  model.input("x", {1, 4, 3}).output("y", {1, 2, 2}).floats("w", {2, 2, 2}, counted(8));
  model.floats("b", {2}, {100, 200});
  model.node("Conv", {"x", "w", "b"}, {"y"}).attribute("group", int64_t{2});
  EXPECT_EQ(evaluateModel(model, {counting({1, 4, 3})}).values,
            (Doubles{0 * 1 + 1 * 2 + 3 * 3 + 4 * 4 + 100, 1 * 1 + 2 * 2 + 4 * 3 + 5 * 4 + 100,
                     6 * 5 + 7 * 6 + 9 * 7 + 10 * 8 + 200, 7 * 5 + 8 * 6 + 10 * 7 + 11 * 8 + 200}));
}

/// What `groups` of a convolution give of weights and bias that are inputs.
Doubles withComputedWeights(const Ints &x, const Ints &weights, int64_t groups) {
  Model model(22);
  model.input("x", x).input("w", weights).input("b", {weights[0]}).output("y");
  model.node("Conv", {"x", "w", "b"}, {"y"}).attribute("group", groups);
  return evaluateModel(model, {counting(x), counting(weights), counting({weights[0]})}).values;
}

TEST(Conv, TakesWeightsThatAreComputed) {
  // x is 0..2 and 3..5, w is 0..3 and 4..7
  EXPECT_EQ(withComputedWeights({1, 2, 3}, {2, 2, 2}, 1),
            (Doubles{0 * 0 + 1 * 1 + 3 * 2 + 4 * 3, 1 * 0 + 2 * 1 + 4 * 2 + 5 * 3,
                     0 * 4 + 1 * 5 + 3 * 6 + 4 * 7 + 1, 1 * 4 + 2 * 5 + 4 * 6 + 5 * 7 + 1}));
  // Depthwise, one feature of each channel and two.
  EXPECT_EQ(withComputedWeights({1, 2, 3}, {2, 1, 2}, 2),
            (Doubles{0 * 0 + 1 * 1, 1 * 0 + 2 * 1, 3 * 2 + 4 * 3 + 1, 4 * 2 + 5 * 3 + 1}));
  EXPECT_EQ(withComputedWeights({1, 2, 2}, {4, 1, 2}, 2),
            (Doubles{0 * 0 + 1 * 1, 0 * 2 + 1 * 3 + 1, 2 * 4 + 3 * 5 + 2, 2 * 6 + 3 * 7 + 3}));
  EXPECT_EQ(withComputedWeights({1, 2, 2}, {2, 1, 1}, 2), (Doubles{0, 0, 2 + 1, 3 + 1}));
  // Two groups of two channels, x is 0..7.
  EXPECT_EQ(withComputedWeights({1, 4, 2}, {2, 2, 2}, 2),
            (Doubles{0 * 0 + 1 * 1 + 2 * 2 + 3 * 3, 4 * 4 + 5 * 5 + 6 * 6 + 7 * 7 + 1}));
}

} // namespace
} // namespace sluice::frontend::test
