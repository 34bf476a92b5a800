#include "compiler/check/shrink.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::check {
namespace {

using testing::ElementsAre;

void addNode(onnx::GraphProto &graph, const std::string &op, const std::vector<std::string> &inputs,
             const std::string &output) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
}

/// x -> Relu -> Exp -> Tanh -> y, beside it x + w -> z.
onnx::ModelProto chain() {
  onnx::ModelProto model;
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.add_input()->set_name("x");
  graph.add_initializer()->set_name("w");
  addNode(graph, "Relu", {"x"}, "a");
  addNode(graph, "Exp", {"a"}, "b");
  addNode(graph, "Tanh", {"b"}, "y");
  addNode(graph, "Add", {"x", "w"}, "z");
  graph.add_output()->set_name("y");
  graph.add_output()->set_name("z");
  return model;
}

const TensorShapes kShapes{{"a", {2, 3}}, {"b", {2, 3}}, {"y", {2, 3}}, {"z", {2, 3}}};

bool has(const onnx::ModelProto &model, const std::string &op) {
  return std::ranges::any_of(model.graph().node(),
                             [&](const auto &node) { return node.op_type() == op; });
}

std::vector<std::string> operatorsOf(const onnx::ModelProto &model) {
  std::vector<std::string> names;
  for (const onnx::NodeProto &node : model.graph().node())
    names.push_back(node.op_type());
  return names;
}

TEST(Shrink, KeepsTheNodeThatShowsTheFault) {
  const onnx::ModelProto small =
      shrink(chain(), kShapes, [](const onnx::ModelProto &model) { return has(model, "Exp"); });
  EXPECT_THAT(operatorsOf(small), ElementsAre("Exp"));
  ASSERT_EQ(small.graph().input_size(), 1);
  EXPECT_EQ(small.graph().input(0).name(), "a");
  EXPECT_EQ(small.graph().input(0).type().tensor_type().shape().dim(1).dim_value(), 3);
  ASSERT_EQ(small.graph().output_size(), 1);
  EXPECT_EQ(small.graph().output(0).name(), "b");
  EXPECT_EQ(small.graph().initializer_size(), 0);
}

TEST(Shrink, KeepsInitializersThatAreRead) {
  const onnx::ModelProto small =
      shrink(chain(), kShapes, [](const onnx::ModelProto &model) { return has(model, "Add"); });
  EXPECT_THAT(operatorsOf(small), ElementsAre("Add"));
  EXPECT_EQ(small.graph().initializer_size(), 1);
}

TEST(Shrink, KeepsNodesThatShowTheFaultTogether) {
  const onnx::ModelProto small = shrink(chain(), kShapes, [](const onnx::ModelProto &model) {
    return has(model, "Relu") && has(model, "Exp");
  });
  EXPECT_THAT(operatorsOf(small), ElementsAre("Relu", "Exp"));
}

TEST(Shrink, TriesNoMoreModelsThanItMay) {
  unsigned tried = 0;
  const onnx::ModelProto same = shrink(
      chain(), kShapes,
      [&](const onnx::ModelProto &) {
        ++tried;
        return false;
      },
      3);
  EXPECT_EQ(tried, 3U);
  EXPECT_EQ(same.graph().node_size(), 4);
}

TEST(Shrink, LeavesTensorsOfUnknownShape) {
  const onnx::ModelProto small =
      shrink(chain(), {}, [](const onnx::ModelProto &model) { return has(model, "Exp"); });
  EXPECT_THAT(operatorsOf(small), ElementsAre("Relu", "Exp", "Tanh"));
}

} // namespace
} // namespace sluice::check
