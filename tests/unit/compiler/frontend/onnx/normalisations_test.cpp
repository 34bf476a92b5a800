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

TEST(BatchNormalization, RefusesOtherShapesAndTraining) {
  EXPECT_EQ(import(batch(13, {1, 3})).messages(),
            "E0206 node 0 '' (BatchNormalization): BatchNormalization requires: input 'X' has "
            "rank 2 or more, and the others one element per channel (axis 1); found [1 3] and [2] "
            "and [2] and [2] and [2]");
  EXPECT_THAT(import(batch(13, {2})).messages(), HasSubstr("rank 2 or more"));
  Model training = batch(15, {1, 2});
  Node(training.graph().mutable_node(0)).attribute("training_mode", int64_t{1});
  EXPECT_THAT(import(training).messages(), HasSubstr("attribute 'training_mode' is 0"));
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
            "E0206 node 0 '' (LayerNormalization): LayerNormalization requires: inputs 'Scale' and "
            "'B' broadcast to the shape of 'X'; found [2 2] and [3]");
  EXPECT_THAT(import(layer({2}, 2)).messages(),
              HasSubstr("attribute 'axis' is in [-rank, rank-1] of input 'X'; found axis 2"));
}

} // namespace
} // namespace sluice::frontend::test
