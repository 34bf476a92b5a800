#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;

Model batch(int64_t opset, const Ints &shape) {
  Model model(opset);
  model.input("x", shape).output("y");
  model.floats("scale", {2}, {2, 3}).floats("b", {2}, {1, -1});
  model.floats("mean", {2}, {4, 0}).floats("var", {2}, {3, 0});
  model.node("BatchNormalization", {"x", "scale", "b", "mean", "var"}, {"y"})
      .attribute("epsilon", 1.0F);
  return model;
}

TEST(BatchNormalization, IsOneMapWithFoldedConstants) {
  for (int64_t opset : {7, 9, 14, 15, 23})
    EXPECT_EQ(evaluateModel(batch(opset, {1, 2, 2}), {{{1, 2, 2}, {4, 6, 0, 1}}}).values,
              (Doubles{1, 3, -1, 2}));
  const std::string text = import(batch(13, {1, 2})).text();
  EXPECT_THAT(text, HasSubstr("dense<[[1.000000e+00, 3.000000e+00]]>"));
  EXPECT_THAT(text, HasSubstr("dense<[[-3.000000e+00, -1.000000e+00]]>"));
}

TEST(BatchNormalization, RefusesOtherShapes) {
  EXPECT_EQ(
      import(batch(13, {1, 3})).messages(),
      "E0206 node 0 (BatchNormalization): BatchNormalization: input 'X' must have rank 2 or more, "
      "the others one element per channel (axis 1); found [1 3] and [2] and [2] and [2] and [2]");
  EXPECT_THAT(import(batch(13, {2})).messages(), HasSubstr("rank 2 or more"));
}

Model layer(const Ints &scale, int64_t axis) {
  Model model(17);
  model.input("x", {2, 2}).output("y").output("m").output("i");
  model.floats("scale", scale, Floats(scale.size() == 1 ? scale[0] : scale[0] * scale[1], 2));
  model.node("LayerNormalization", {"x", "scale"}, {"y", "m", "i"})
      .attribute("epsilon", 0.0F)
      .attribute("axis", axis);
  return model;
}

TEST(LayerNormalization, HasMeanAndDeviation) {
  const auto results = evaluate(import(layer({2}, -1)), {{{2, 2}, {1, 3, -4, 4}}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].values, (Doubles{-2, 2, -2, 2}));
  EXPECT_EQ(results[1].values, (Doubles{2, 0}));
  EXPECT_EQ(results[2].values, (Doubles{1, 0.25}));
  EXPECT_EQ(results[1].shape, (Ints{2, 1}));
}

TEST(LayerNormalization, RefusesWhatDoesNotBroadcast) {
  EXPECT_EQ(import(layer({3}, -1)).messages(),
            "E0206 node 0 (LayerNormalization): LayerNormalization: inputs 'Scale' and 'B' must "
            "broadcast to the shape of 'X'; found [2 2] and [3]");
  EXPECT_THAT(import(layer({2}, 2)).messages(),
              HasSubstr("attribute 'axis' must be in [-rank, rank-1] of input 'X'; found axis 2"));
}

TEST(RMSNormalization, RefusesWhatDoesNotBroadcast) {
  const auto rms = [](const Ints &scale, int64_t axis) {
    Model model(23);
    model.input("x", {2, 2}).floats("s", scale, Floats(scale[0], 1)).output("y");
    model.node("RMSNormalization", {"x", "s"}, {"y"}).attribute("axis", axis);
    return import(model).messages();
  };
  const std::string requires_ = "E0206 node 0 (RMSNormalization): RMSNormalization: ";
  EXPECT_EQ(rms({2}, -1), "");
  EXPECT_EQ(rms({3}, -1),
            requires_ + "input 'scale' must broadcast to the shape of 'X'; found [2 2] and [3]");
  EXPECT_EQ(
      rms({2}, 2),
      requires_ +
          "attribute 'axis' must be in [-rank, rank-1] of input 'X'; found axis 2 for rank 2");
}

Model group(int64_t opset, int64_t groups, const Ints &scale) {
  Model model(opset);
  model.input("x", {1, 4, 2}).output("y");
  model.floats("s", scale, Floats(scale[0], 1)).floats("b", scale, Floats(scale[0], 0));
  model.node("GroupNormalization", {"x", "s", "b"}, {"y"})
      .attribute("num_groups", groups)
      .attribute("epsilon", 0.0F);
  return model;
}

TEST(GroupNormalization, HasScalesOfGroupsThenOfChannels) {
  const Doubles x = {1, 3, 3, 1, 0, 8, 0, 8}, y = {-1, 1, 1, -1, -1, 1, -1, 1};
  EXPECT_EQ(evaluateModel(group(18, 2, {2}), {{{1, 4, 2}, x}}).values, y);
  EXPECT_EQ(evaluateModel(group(21, 2, {4}), {{{1, 4, 2}, x}}).values, y);
}

TEST(GroupNormalization, RefusesOtherShapes) {
  const std::string requires_ = "E0206 node 0 (GroupNormalization): GroupNormalization: ";
  EXPECT_EQ(import(group(18, 2, {4})).messages(),
            requires_ + "input 'X' must have rank 2 or more, the others one element per group; "
                        "found [1 4 2] and [4] and [4]");
  EXPECT_EQ(import(group(21, 2, {2})).messages(),
            requires_ + "input 'X' must have rank 2 or more, the others one element per channel "
                        "(axis 1); found [1 4 2] and [2] and [2]");
  EXPECT_EQ(import(group(21, 3, {4})).messages(),
            requires_ +
                "attribute 'num_groups' must divide the channels (axis 1); found 3 for 4 channels");
  EXPECT_EQ(import(group(21, 0, {4})).messages(),
            requires_ +
                "attribute 'num_groups' must divide the channels (axis 1); found 0 for 4 channels");
}

TEST(InstanceNormalization, RefusesOtherShapes) {
  Model model(13);
  model.input("x", {1, 2, 2}).floats("s", {3}, {1, 1, 1}).output("y");
  model.node("InstanceNormalization", {"x", "s", "s"}, {"y"});
  EXPECT_EQ(
      import(model).messages(),
      "E0206 node 0 (InstanceNormalization): InstanceNormalization: input 'input' must have rank 3 "
      "or more, the others one element per channel (axis 1); found [1 2 2] and [3] and [3]");
}

TEST(MeanVarianceNormalization, HasNoDivisionByZero) {
  Model model(13);
  model.input("x", {1, 2}).output("y");
  model.node("MeanVarianceNormalization", {"x"}, {"y"}).attribute("axes", Ints{1});
  EXPECT_EQ(evaluateModel(model, {{{1, 2}, {5, 5}}}).values, (Doubles{0, 0}));
  Node(model.graph().mutable_node(0)).proto->clear_attribute();
  EXPECT_EQ(import(model).messages(),
            "E0206 node 0 (MeanVarianceNormalization): MeanVarianceNormalization: attribute 'axes' "
            "must be distinct axes of 'X'; found axis 2 for rank 2");
}

TEST(LpNormalization, OfZerosIsZero) {
  for (const int64_t p : {1, 2})
    for (const int64_t opset : {13, 22}) {
      Model model(opset);
      model.input("x", {2, 2}).output("y");
      model.node("LpNormalization", {"x"}, {"y"}).attribute("p", p);
      EXPECT_EQ(evaluateModel(model, {{{2, 2}, {0, 0, 0, -4}}}).values, (Doubles{0, 0, 0, -1}));
    }
}

TEST(LpNormalization, RefusesOtherNorms) {
  Model model(13);
  model.input("x", {1, 2}).output("y");
  model.node("LpNormalization", {"x"}, {"y"}).attribute("p", int64_t{3});
  EXPECT_EQ(import(model).messages(), "E0203 node 0 (LpNormalization): LpNormalization: attribute "
                                      "'p' must be 1 or 2 (default 2); found 3");
}

} // namespace
} // namespace sluice::frontend::test
