// Sequences and optionals: what is refused, word for word, and what becomes of them in a model. The
// cases of the ONNX suite have their values (tests/conformance).
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using onnx::TensorProto;

/// A sequence of x0 [2 3] and x1 [2 2], which an operator takes first.
Model onSequence(const std::string &op, const Names &others = {}, int64_t opset = 18) {
  Model model(opset);
  model.input("x0", {2, 3}).input("x1", {2, 2}).output("y");
  model.ints("minus3", {}, {-3}).ints("minus2", {}, {-2}).ints("one", {}, {1}).ints("two", {}, {2});
  model.ints("list", {2}, {0, 1});
  model.node("SequenceConstruct", {"x0", "x1"}, {"s"});
  Names inputs = {"s"};
  inputs.insert(inputs.end(), others.begin(), others.end());
  model.node(op, inputs, {"y"});
  return model;
}

std::string messages(const Model &model) { return import(model).messages(); }

/// "E0206 what is required; found what" of node 1.
std::string problem(const Model &model, const std::string &op) {
  const std::string text = messages(model), start = " node 1 (" + op + "): " + op + ": ";
  return text.size() > 5 && text.substr(5).starts_with(start) &&
                 text.find("; found ") != std::string::npos
             ? text.substr(0, 5) + " " + text.substr(5 + start.size())
             : text;
}

TEST(Sequence, PositionsCountFromBothEnds) {
  EXPECT_EQ(import(onSequence("SequenceAt", {"one"})).info.outputs.at(0).shape, (Ints{2, 2}));
  EXPECT_EQ(import(onSequence("SequenceAt", {"minus2"})).info.outputs.at(0).shape, (Ints{2, 3}));
  EXPECT_EQ(problem(onSequence("SequenceAt", {"two"}), "SequenceAt"),
            "E0206 input 'position' must have one element, in [-length, length-1] of the sequence; "
            "found 2 for length 2");
  EXPECT_EQ(problem(onSequence("SequenceAt", {"minus3"}), "SequenceAt"),
            "E0206 input 'position' must have one element, in [-length, length-1] of the sequence; "
            "found -3 for length 2");
  EXPECT_EQ(problem(onSequence("SequenceErase", {"list"}), "SequenceErase"),
            "E0206 input 'position' must have one element, in [-length, length-1] of the sequence; "
            "found [2]");
  Model inserted = onSequence("SequenceInsert", {"x0", "minus3"});
  EXPECT_EQ(problem(inserted, "SequenceInsert"),
            "E0206 input 'position' must have one element, in [-length, length] of the sequence; "
            "found -3 for length 2");
}

TEST(Sequence, IsNoTensorAndATensorIsNoSequence) {
  EXPECT_EQ(
      problem(onSequence("Sigmoid"), "Sigmoid"),
      "E0205 input 'X' must be float, float16, bfloat16 or double; found a sequence of 2 tensors");
  Model model(18);
  model.input("x", {2}).output("y");
  model.node("SequenceLength", {"x"}, {"y"});
  EXPECT_EQ(messages(model),
            "E0205 node 0 (SequenceLength): SequenceLength: input 'input_sequence' must be a "
            "sequence whose length is known at compile time; found a tensor");
}

TEST(Sequence, IsNoInputAndNoOutput) {
  const Imported imported = import(onSequence("Identity"));
  EXPECT_EQ(imported.messages(), "E0110: output 'y' is a sequence of 2 tensors; expected a tensor");
  ASSERT_EQ(imported.problems.front().fixes.size(), 1U);
  EXPECT_EQ(imported.problems.front().fixes.front().text,
            "output the elements of a sequence (SequenceAt) or the value of an optional "
            "(OptionalGetElement)");
}

TEST(Sequence, OfOneType) {
  Model mixed(18);
  mixed.input("x", {2}).ints("i", {1}, {1}).output("y");
  mixed.node("SequenceConstruct", {"x", "i"}, {"s"});
  mixed.node("SequenceLength", {"s"}, {"y"});
  EXPECT_EQ(messages(mixed), "E0206 node 0 (SequenceConstruct): SequenceConstruct: all inputs must "
                             "have the same element type; found float, int64");
  EXPECT_EQ(
      problem(onSequence("SequenceInsert", {"one"}), "SequenceInsert"),
      "E0206 input 'tensor' must have the element type of the sequence; found int64 for float");
  Model typed(18);
  typed.input("x", {2}).output("y");
  typed.node("SequenceEmpty", {}, {"s"}).attribute("dtype", int64_t{8});
  typed.node("SequenceLength", {"s"}, {"y"});
  EXPECT_EQ(messages(typed), "E0205 node 0 (SequenceEmpty): SequenceEmpty: attribute 'dtype' must "
                             "be a float, integer or bool type; found 8");
}

TEST(Sequence, WithoutElementsHasNoneToGive) {
  Model model(18);
  model.input("x", {2}).output("y");
  model.node("SequenceEmpty", {}, {"s"});
  model.node("SequenceErase", {"s"}, {"t"});
  model.node("SequenceLength", {"t"}, {"y"});
  EXPECT_EQ(messages(model), "E0206 node 1 (SequenceErase): SequenceErase: the sequence must have "
                             "at least one tensor; found none");
}

/// SplitToSequence of [2 5], then the length.
Model split(const Ints &shape, const Ints &parts, int64_t axis = 1) {
  Model model(18);
  model.input("x", {2, 5}).ints("parts", shape, parts).output("y");
  model.node("SplitToSequence", {"x", "parts"}, {"s"}).attribute("axis", axis);
  model.node("SequenceLength", {"s"}, {"y"});
  return model;
}

TEST(SplitToSequence, ByOneExtentOrByAList) {
  const auto length = [](const Model &model) {
    return evaluateModel(model, {reference::Tensor({2, 5})}).values;
  };
  EXPECT_EQ(length(split({}, {2})), (std::vector<double>{3}));
  EXPECT_EQ(length(split({3}, {0, 4, 1})), (std::vector<double>{3}));
  EXPECT_EQ(length(split({}, {1}, -2)), (std::vector<double>{2}));
}

TEST(SplitToSequence, RefusesPartsThatDoNotFit) {
  const auto refused = [](const Ints &shape, const Ints &parts) {
    return messages(split(shape, parts));
  };
  const std::string sentence =
      "E0206 node 0 (SplitToSequence): SplitToSequence: 'split' must be one extent of at least 1, "
      "or a list of extents that add up to that of 'axis'; found ";
  EXPECT_EQ(refused({}, {0}), sentence + "[0] of shape [] for extent 5");
  EXPECT_EQ(refused({2}, {3, 3}), sentence + "[3 3] of shape [2] for extent 5");
  EXPECT_EQ(refused({2}, {6, -1}), sentence + "[6 -1] of shape [2] for extent 5");
  EXPECT_EQ(refused({1, 1}, {5}), sentence + "[5] of shape [1 1] for extent 5");
  EXPECT_EQ(messages(split({}, {1}, 2)),
            "E0206 node 0 (SplitToSequence): SplitToSequence: attribute 'axis' must be in [-rank, "
            "rank-1] of input 'input'; found axis 2 for rank 2");
}

TEST(ConcatFromSequence, RefusesShapesThatDiffer) {
  const auto joined = [](int64_t axis, int64_t isNew) {
    Model model = onSequence("ConcatFromSequence");
    Node(model.graph().mutable_node(1)).attribute("axis", axis).attribute("new_axis", isNew);
    return problem(model, "ConcatFromSequence");
  };
  EXPECT_EQ(joined(1, 0), "");
  EXPECT_EQ(joined(0, 0), "E0206 the tensors must have equal shapes, except along 'axis' if it is "
                          "not new; found [2 3] and [2 2]");
  EXPECT_EQ(joined(1, 1), "E0206 the tensors must have equal shapes, except along 'axis' if it is "
                          "not new; found [2 3] and [2 2]");
  EXPECT_EQ(
      joined(-3, 0),
      "E0206 attribute 'axis' must be in [-rank, rank-1] of the result; found axis -3 for rank 2");
}

/// The graph of a SequenceMap.
onnx::GraphProto &bodyOf(Node node) {
  onnx::AttributeProto &body = node.attribute("body");
  body.set_type(onnx::AttributeProto::GRAPH);
  return *body.mutable_g();
}

TEST(SequenceMap, RefusesABodyOfOtherCounts) {
  Model model = onSequence("SequenceMap", {"x0"});
  onnx::GraphProto &body = bodyOf(Node(model.graph().mutable_node(1)));
  body.add_input()->set_name("a");
  body.add_output()->set_name("b");
  addNode(body, "Relu", {"a"}, {"b"});
  EXPECT_EQ(problem(model, "SequenceMap"),
            "E0206 the body must have as many inputs and outputs as the node; found 2 inputs and 1 "
            "outputs; the body has 1 and 1");
}

TEST(SequenceMap, RefusesSequencesOfOtherLengths) {
  Model model(18);
  model.input("x", {2}).output("y");
  model.node("SequenceConstruct", {"x", "x"}, {"s"});
  model.node("SequenceConstruct", {"x"}, {"t"});
  onnx::GraphProto &body = bodyOf(model.node("SequenceMap", {"s", "t"}, {"u"}));
  for (const char *name : {"a", "b"})
    body.add_input()->set_name(name);
  body.add_output()->set_name("c");
  addNode(body, "Add", {"a", "b"}, {"c"});
  model.node("SequenceLength", {"u"}, {"y"});
  EXPECT_EQ(messages(model), "E0206 node 2 (SequenceMap): SequenceMap: all inputs must be given, "
                             "and all sequences must have the same length; found 2 and 1");
}

TEST(Sequence, IsNotStackedUpByALoop) {
  Model model(16);
  model.input("x", {2}).ints("two", {}, {2}).output("y");
  Node node = model.node("Loop", {"two", "", "x"}, {"last", "y"});
  onnx::GraphProto &body = bodyOf(node);
  for (const char *name : {"trip", "on", "a"})
    body.add_input()->set_name(name);
  for (const char *name : {"still", "b", "all"})
    body.add_output()->set_name(name);
  addNode(body, "Identity", {"on"}, {"still"});
  addNode(body, "Neg", {"a"}, {"b"});
  addNode(body, "SequenceConstruct", {"b"}, {"all"});
  EXPECT_EQ(messages(model), "E0206 node 0 (Loop): Loop: an iteration gives a sequence of 1 "
                             "tensor; only tensors can be stacked");
}

TEST(Optional, HasAValueOrNone) {
  const auto model = [](bool given) {
    Model out(18);
    out.input("x", {2}).output("y");
    Node node = out.node("Optional", given ? Names{"x"} : Names{}, {"o"});
    if (!given) {
      onnx::AttributeProto &type = node.attribute("type");
      type.set_type(onnx::AttributeProto::TYPE_PROTO);
      type.mutable_tp()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
    }
    out.node("OptionalGetElement", {"o"}, {"y"});
    return out;
  };
  EXPECT_EQ(messages(model(true)), "");
  EXPECT_EQ(messages(model(false)), "E0206 node 1 (OptionalGetElement): OptionalGetElement: input "
                                    "'input' must have a value; found an empty optional");
  Model neither = model(false);
  neither.graph().mutable_node(0)->clear_attribute();
  EXPECT_EQ(messages(neither), "E0206 node 0 (Optional): Optional: either input 'input' "
                               "or attribute 'type' must be given, not both; found neither");
  Model contradicted = model(false);
  contradicted.graph().mutable_node(0)->mutable_attribute(0)->set_type(
      onnx::AttributeProto::STRING);
  EXPECT_EQ(messages(contradicted), "E0203 node 0 (Optional): Optional: attribute 'type' must be a "
                                    "type (optional); found a string");
}

} // namespace
} // namespace sluice::frontend::test
