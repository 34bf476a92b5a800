#include "compiler/reduce/graph_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/reduce/bypass.h"
#include "tests/unit/compiler/reduce/models.h"

namespace sluice::reduce {
namespace {

using testing::ElementsAre;

std::vector<std::string> namesOf(const auto &list) {
  std::vector<std::string> names;
  for (const auto &one : list)
    names.push_back(one.name());
  return names;
}

/// An If whose first branch is Neg(a) -> Abs, in front of a Relu.
onnx::ModelProto branches() {
  onnx::ModelProto model;
  onnx::GraphProto &graph = *model.mutable_graph();
  *graph.add_input() = floatTensor("x", {2});
  addNode(graph, "Relu", {"x"}, "a");
  onnx::NodeProto &branch = addNode(graph, "If", {"c"}, "y");
  for (const char *name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto &attribute = *branch.add_attribute();
    attribute.set_name(name);
    onnx::GraphProto &inner = *attribute.mutable_g();
    addNode(inner, "Neg", {"a"}, "n");
    addNode(inner, "Abs", {"n"}, "m");
    inner.add_output()->set_name("m");
  }
  *graph.add_output() = floatTensor("y", {2});
  return model;
}

TEST(GraphParts, CountsInnerNodes) {
  EXPECT_EQ(countNodes(chain()), 4U);
  EXPECT_EQ(countNodes(branches()), 6U);
}

TEST(GraphParts, ReadsOfInnerGraphs) {
  EXPECT_THAT(readsOf(branches().graph().node(1)), ElementsAre("a", "c"));
}

TEST(GraphParts, SortsNodes) {
  onnx::ModelProto model = chain();
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.mutable_node()->SwapElements(0, 2); // Tanh, Exp, Relu, Add
  sortNodes(graph);
  EXPECT_THAT(operatorsOf(model), ElementsAre("Relu", "Add", "Exp", "Tanh"));
}

TEST(GraphParts, LeavesCyclesAlone) {
  onnx::ModelProto model;
  addNode(*model.mutable_graph(), "Relu", {"b"}, "a");
  addNode(*model.mutable_graph(), "Exp", {"a"}, "b");
  sortNodes(*model.mutable_graph());
  EXPECT_THAT(operatorsOf(model), ElementsAre("Relu", "Exp"));
}

TEST(GraphParts, MakesUnknownResultsInputs) {
  const auto part = partOf(chain(), {false, true, false, true}, factsOfChain());
  ASSERT_TRUE(part);
  EXPECT_THAT(operatorsOf(*part), ElementsAre("Exp", "Add"));
  EXPECT_THAT(namesOf(part->graph().input()), ElementsAre("a", "x"));
  EXPECT_THAT(namesOf(part->graph().initializer()), ElementsAre("w"));
  EXPECT_THAT(namesOf(part->graph().output()), ElementsAre("z", "b"));
  EXPECT_EQ(part->opset_import(0).version(), 13);
}

TEST(GraphParts, MakesKnownResultsInitializers) {
  Facts facts = factsOfChain();
  facts["a"].constant.emplace().add_float_data(3);
  const auto part = partOf(chain(), {false, true, false, false}, facts);
  ASSERT_TRUE(part);
  EXPECT_THAT(namesOf(part->graph().input()), ElementsAre());
  ASSERT_THAT(namesOf(part->graph().initializer()), ElementsAre("a"));
  EXPECT_EQ(part->graph().initializer(0).float_data(0), 3);
}

TEST(GraphParts, NeedsTheShapesOfNewInputs) {
  EXPECT_FALSE(partOf(chain(), {false, true, false, false}, {}));
  EXPECT_TRUE(partOf(chain(), {true, true, false, false}, {}));
  EXPECT_FALSE(partOf(chain(), {false, false, false, false}, factsOfChain()));
}

TEST(GraphParts, RemovesUnreadFunctions) {
  onnx::ModelProto model = chain();
  for (const char *name : {"Outer", "Inner", "Unread"}) {
    onnx::FunctionProto &function = *model.add_functions();
    function.set_name(name);
    function.set_domain("own");
  }
  onnx::NodeProto &call = *model.mutable_functions(0)->add_node();
  call.set_domain("own");
  call.set_op_type("Inner");
  addNode(*model.mutable_graph(), "Outer", {"x"}, "o").set_domain("own");
  model.mutable_graph()->add_output()->set_name("o");
  removeUnread(model);
  EXPECT_THAT(namesOf(model.functions()), ElementsAre("Outer", "Inner"));
}

TEST(GraphParts, BypassesOfTensorsThatAreAlike) {
  Facts facts = factsOfChain();
  facts["y"].shape = {3, 2};
  facts["b"].type = onnx::TensorProto::INT64;
  std::vector<std::string> results;
  for (const Bypass &one : bypassesOf(chain().graph(), facts))
    results.push_back(one.result + " " + one.operand);
  EXPECT_THAT(results, ElementsAre("z x", "a x"));
}

TEST(GraphParts, BypassesANode) {
  onnx::ModelProto model = chain();
  ASSERT_TRUE(bypass(model, {"b", "a"}));
  EXPECT_THAT(operatorsOf(model), ElementsAre("Relu", "Tanh", "Add"));
  EXPECT_EQ(model.graph().node(1).input(0), "a");
}

TEST(GraphParts, BypassesANodeWhoseResultIsAnOutput) {
  onnx::ModelProto model = chain();
  ASSERT_TRUE(bypass(model, {"y", "b"}));
  EXPECT_THAT(namesOf(model.graph().output()), ElementsAre("b", "z"));
  ASSERT_TRUE(bypass(model, {"z", "x"})) << "an input is no output";
  EXPECT_THAT(namesOf(model.graph().output()), ElementsAre("b"));
}

TEST(GraphParts, BypassesInnerNodes) {
  onnx::ModelProto model = branches();
  ASSERT_TRUE(bypass(model, {"m", "n"}));
  removeUnread(model);
  EXPECT_EQ(countNodes(model), 4U);
  EXPECT_EQ(model.graph().node(1).attribute(0).g().output(0).name(), "n");
}

TEST(GraphParts, TurnsConstantsIntoInitializers) {
  onnx::GraphProto graph;
  onnx::NodeProto &node = addNode(graph, "Constant", {}, "c");
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("value_ints");
  attribute.add_ints(2);
  attribute.add_ints(3);
  addNode(graph, "Relu", {"x"}, "y");
  constantsToInitializers(graph);
  ASSERT_EQ(graph.node_size(), 1);
  ASSERT_EQ(graph.initializer_size(), 1);
  EXPECT_EQ(graph.initializer(0).name(), "c");
  EXPECT_EQ(graph.initializer(0).dims(0), 2);
  EXPECT_EQ(graph.initializer(0).int64_data(1), 3);
}

} // namespace
} // namespace sluice::reduce
