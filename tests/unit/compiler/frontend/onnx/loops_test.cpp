#include <functional>

#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

/// The graph in an attribute, with the inputs named.
onnx::GraphProto &body(Node node, const Names &inputs, const Names &outputs) {
  onnx::AttributeProto &out = node.attribute("body");
  out.set_type(onnx::AttributeProto::GRAPH);
  for (const std::string &name : inputs)
    out.mutable_g()->add_input()->set_name(name);
  for (const std::string &name : outputs)
    out.mutable_g()->add_output()->set_name(name);
  return *out.mutable_g();
}

/// A Scan of [2 3], which adds to the state what it takes, and gives the sums.
Model scan(const std::function<void(Node &)> &attributes = [](Node &) {}, int64_t opset = 11) {
  Model model(opset);
  model.input("x", {2, 3}).floats("s0", {2}, {10, 20}).output("last").output("all");
  Node node = model.node("Scan", {"s0", "x"}, {"last", "all"});
  node.attribute("num_scan_inputs", int64_t{1});
  onnx::GraphProto &graph = body(node, {"s", "xi"}, {"s1", "s2"});
  addNode(graph, "Add", {"s", "xi"}, {"s1"});
  addNode(graph, "Identity", {"s1"}, {"s2"});
  attributes(node);
  return model;
}

TEST(Scan, AlongAxesInBothDirections) {
  const auto values = [](const Ints &axes, const Ints &directions, const Ints &outputAxes,
                         const Ints &outputDirections) {
    const Imported imported = import(scan([&](Node &node) {
      node.attribute("scan_input_axes", axes).attribute("scan_input_directions", directions);
      node.attribute("scan_output_axes", outputAxes)
          .attribute("scan_output_directions", outputDirections);
    }));
    EXPECT_EQ(imported.messages(), "");
    EXPECT_NE(imported.text().find("sluice.loop"), std::string::npos);
    return evaluate(imported, {counting({2, 3})}).back();
  };
  // Columns [0 3], [1 4], [2 5].
  EXPECT_EQ(values({-1}, {0}, {0}, {0}), (reference::Tensor{{3, 2}, {10, 23, 11, 27, 13, 32}}));
  EXPECT_EQ(values({1}, {1}, {0}, {0}), (reference::Tensor{{3, 2}, {12, 25, 13, 29, 13, 32}}));
  EXPECT_EQ(values({1}, {0}, {-1}, {1}), (reference::Tensor{{2, 3}, {13, 11, 10, 32, 27, 23}}));
}

TEST(Scan, RefusesWhatContradictsItself) {
  const auto messages = [](const std::function<void(Node &)> &attributes) {
    return import(scan(attributes)).messages();
  };
  const auto list = [&](const char *name, const Ints &values) {
    return messages([&](Node &node) { node.attribute(name, values); });
  };
  const std::string requires_ = "E0206 node 0 (Scan): Scan: ";
  for (const int64_t count : {-1, 0, 3, 1 << 30})
    EXPECT_EQ(messages([&](Node &node) {
                for (onnx::AttributeProto &one : *node.proto->mutable_attribute())
                  if (one.name() == "num_scan_inputs")
                    one.set_i(count);
              }),
              requires_ +
                  "'num_scan_inputs' must be in [1, inputs], and the body must have the node's "
                  "inputs, an output per state, and at least the node's outputs; found " +
                  std::to_string(count) +
                  " of 2 inputs and 2 outputs; the body has 2 inputs and 2 outputs");
  EXPECT_EQ(messages([](Node &node) {
              for (onnx::AttributeProto &one : *node.proto->mutable_attribute())
                if (one.name() == "body")
                  one.mutable_g()->add_input()->set_name("more");
            }),
            requires_ + "'num_scan_inputs' must be in [1, inputs], and the body must have the "
                        "node's inputs, an output per state, and at least the node's outputs; "
                        "found 1 of 2 inputs and 2 outputs; the body has 3 inputs and 2 outputs");
  EXPECT_EQ(list("scan_input_axes", {0, 1}),
            requires_ + "attribute 'scan_input_axes', if given, must have one element per scan "
                        "input; found 2 for 1");
  EXPECT_EQ(list("scan_output_directions", {}),
            requires_ + "attribute 'scan_output_directions', if given, must have one element per "
                        "scan output; found 0 for 1");
  EXPECT_EQ(list("scan_input_directions", {2}),
            requires_ + "every element of attribute 'scan_input_directions' must be 0 (forward) or "
                        "1 (reverse); found 2");
  EXPECT_EQ(list("scan_input_axes", {2}),
            requires_ +
                "'scan_input_axes' must be axes of the scan inputs; found axis 2 for rank 2");
  EXPECT_EQ(
      messages([](Node &node) { // the elements of x are rows of 3
        node.attribute("scan_input_axes", Ints{0});
      }),
      "E0206 node 0 'Scan_0/Add' (Add): Add: the input shapes must broadcast; found [2] and [3]");
  EXPECT_EQ(
      messages([](Node &node) {
        node.attribute("scan_input_axes", Ints{1}).attribute("scan_output_axes", Ints{2});
      }),
      "E0206 node 0 (Scan): Scan: element 0 of 'scan_output_axes' is 2, but the output has rank 2");
  Model growing(11);
  growing.input("x", {2, 3}).floats("s0", {3}, {0, 0, 0}).output("last");
  Node node = growing.node("Scan", {"s0", "x"}, {"last"});
  node.attribute("num_scan_inputs", int64_t{1});
  addNode(body(node, {"s", "xi"}, {"s1"}), "Concat", {"s", "xi"}, {"s1"})
      .attribute("axis", int64_t{0});
  EXPECT_EQ(import(growing).messages(), "E0206 node 0 (Scan): Scan: loop-carried value 0 has shape "
                                        "[3] before the first iteration and [6] after it");
}

/// Of version 8: two rows of a batch, 3 steps of 2 numbers each.
std::string batched(
    const Ints &state, const Ints &lengths,
    const std::function<void(Node &)> &attributes = [](Node &) {}) {
  Model model(8);
  model.input("x", {2, 3, 2}).input("s0", state).output("last");
  if (!lengths.empty())
    model.ints("lengths", {static_cast<int64_t>(lengths.size())}, lengths);
  Node node = model.node("Scan", {lengths.empty() ? "" : "lengths", "s0", "x"}, {"last"});
  node.attribute("num_scan_inputs", int64_t{1});
  addNode(body(node, {"s", "xi"}, {"s1"}), "Add", {"s", "xi"}, {"s1"});
  attributes(node);
  return import(model).messages();
}

TEST(Scan, OfBatchesRefusesWhatContradictsItself) {
  const auto directed = [](const Ints &directions) {
    return batched({2, 2}, {}, [&](Node &node) { node.attribute("directions", directions); });
  };
  const std::string requires_ = "E0206 node 0 (Scan): Scan: ";
  EXPECT_EQ(directed({1}), "");
  EXPECT_EQ(
      directed({1, 0}),
      requires_ +
          "attribute 'directions', if given, must have one element per scan input; found 2 for 1");
  EXPECT_EQ(
      directed({2}),
      requires_ +
          "every element of attribute 'directions' must be 0 (forward) or 1 (reverse); found 2");
  EXPECT_EQ(batched({3, 2}, {}),
            requires_ + "the inputs must have the same first extent (batch), the scan inputs the "
                        "same second one, at least 1; found [3 2] and [2 3 2]");
  EXPECT_EQ(batched({2, 2}, {3, 3}), "");
  EXPECT_EQ(batched({2, 2}, {3, 2}),
            "E0205 node 0 (Scan): Scan: every element of 'sequence_lens', if given, must be the "
            "second extent of the scan inputs; found 2 for 3 steps");
}

TEST(Scan, NamesNodesOfBodiesAfterTheirOwner) {
  const Imported imported = import(scan([](Node &node) {
    node.name("steps").attribute("scan_input_axes", Ints{1});
    for (onnx::AttributeProto &one : *node.proto->mutable_attribute())
      if (one.name() == "body")
        one.mutable_g()->mutable_node(0)->set_op_type("Adjust");
  }));
  EXPECT_EQ(imported.messages(), "E0201 node 0 'steps/Adjust' (Adjust): operator 'Adjust' is not "
                                 "supported: ONNX has no operator of this name up to opset 26");
}

/// A Loop whose body is made by `fill`, carrying the one value v.
Model loop(std::optional<int64_t> trips, const Names &outputs, const Names &bodyOutputs,
           const std::function<void(onnx::GraphProto &)> &fill) {
  Model model(13);
  model.input("x", {2});
  for (const std::string &output : outputs)
    model.output(output);
  if (trips)
    model.ints("M", {}, {*trips});
  Node node = model.node("Loop", {trips ? "M" : "", "", "x"}, outputs);
  fill(body(node, {"i", "c", "v"}, bodyOutputs));
  return model;
}

TEST(Loop, ThatIsTheSameInEveryTripStaysOne) {
  const Imported imported =
      import(loop(4, {"last", "all"}, {"c", "w", "v"},
                  [](onnx::GraphProto &graph) { addNode(graph, "Add", {"v", "x"}, {"w"}); }));
  EXPECT_EQ(imported.messages(), "");
  EXPECT_NE(imported.text().find("sluice.loop 4 carry"), std::string::npos) << imported.text();
  const auto results = evaluate(imported, {{{2}, {1, 2}}});
  EXPECT_EQ(results[0].values, (std::vector<double>{5, 10}));
  EXPECT_EQ(results[1], (reference::Tensor{{4, 2}, {1, 2, 2, 4, 3, 6, 4, 8}}));
}

TEST(Loop, ThatKnowsItsTripIsWrittenOut) {
  // v + i while i < 2, so three trips.
  const Imported imported = import(loop(9, {"last"}, {"go", "w"}, [](onnx::GraphProto &graph) {
    addNode(graph, "Constant", {}, {"two"}).attribute("value_int", int64_t{2});
    addNode(graph, "Less", {"i", "two"}, {"go"});
    addNode(graph, "Cast", {"i"}, {"f"}).attribute("to", int64_t{onnx::TensorProto::FLOAT});
    addNode(graph, "Add", {"v", "f"}, {"w"});
  }));
  EXPECT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.text().find("sluice.loop"), std::string::npos);
  EXPECT_EQ(evaluate(imported, {{{2}, {1, 2}}})[0].values, (std::vector<double>{4, 5}));
}

TEST(Loop, MayCarryWhatGrows) {
  const Imported imported = import(loop(2, {"last"}, {"c", "w"}, [](onnx::GraphProto &graph) {
    addNode(graph, "Concat", {"v", "x"}, {"w"}).attribute("axis", int64_t{0});
  }));
  EXPECT_EQ(imported.messages(), "");
  EXPECT_EQ(evaluate(imported, {{{2}, {1, 2}}})[0].values, (std::vector<double>{1, 2, 1, 2, 1, 2}));
}

TEST(Loop, WithoutTripsGivesWhatItBeginsWith) {
  const auto identity = [](onnx::GraphProto &graph) {
    addNode(graph, "Neg", {"v"}, {"w"});
    addNode(graph, "Neg", {"v"}, {"row"});
  };
  const Imported imported = import(loop(0, {"last"}, {"c", "w"}, identity));
  EXPECT_EQ(imported.messages(), "");
  EXPECT_EQ(evaluate(imported, {{{2}, {1, 2}}})[0].values, (std::vector<double>{1, 2}));
  EXPECT_EQ(import(loop(-3, {"last", "all"}, {"c", "w", "row"}, identity)).messages(),
            "E0205 node 0 (Loop): Loop: output 1 has no known shape: it stacks the results of a "
            "loop without iterations");
}

TEST(Loop, RefusesWhatDoesNotEndAtImport) {
  const auto next = [](onnx::GraphProto &graph) { addNode(graph, "Neg", {"v"}, {"w"}); };
  EXPECT_EQ(import(loop({}, {"last"}, {"c", "w"}, next)).messages(),
            "E0415 node 0 (Loop): Loop: the loop has at least 5001 iterations of 1 operations; at "
            "most 10000 operations can be unrolled");
  EXPECT_EQ(import(loop(int64_t{1} << 60, {"last"}, {"c", "i"}, next)).messages(),
            "E0415 node 0 (Loop): Loop: the loop has 1152921504606846976 iterations of 1 "
            "operations; at most 10000 operations can be unrolled");
  EXPECT_EQ(
      import(loop(5, {"last"}, {"go", "w"},
                  [](onnx::GraphProto &graph) {
                    addNode(graph, "ReduceMax", {"v"}, {"m"}).attribute("keepdims", int64_t{0});
                    addNode(graph, "Constant", {}, {"limit"}).attribute("value_float", 1.0F);
                    addNode(graph, "Less", {"m", "limit"}, {"go"});
                    addNode(graph, "Neg", {"v"}, {"w"});
                  }))
          .messages(),
      "E0205 node 0 (Loop): Loop: the condition after iteration 0 must be known at compile time, "
      "but depends on the model's inputs");
}

TEST(Loop, RefusesWhatContradictsItself) {
  const auto none = [](onnx::GraphProto &) {};
  const std::string counts =
      "E0206 node 0 (Loop): Loop: the body must have inputs (iteration, condition, carried) and "
      "outputs (condition, carried, stacked); found 1 carried and 2 outputs; the body has ";
  EXPECT_EQ(import(loop(3, {"last", "all"}, {"c", "v"}, none)).messages(),
            counts + "3 inputs and 2 outputs");
  Model trips = loop(3, {"last"}, {"c", "v"}, none);
  trips.graph().mutable_initializer(0)->add_dims(0);
  trips.graph().mutable_initializer(0)->clear_raw_data();
  trips.graph().mutable_initializer(0)->clear_int64_data();
  EXPECT_EQ(import(trips).messages(), "E0206 node 0 (Loop): Loop: inputs 'M' and 'cond' must have "
                                      "one element each; found int64 [0]");
  Model hole = loop(3, {"last"}, {"c", "v"}, none);
  hole.graph().mutable_node(0)->set_input(2, "");
  hole.graph().mutable_node(0)->add_input("x");
  EXPECT_EQ(import(hole).messages(),
            "E0206 node 0 (Loop): Loop: the body must have inputs (iteration, condition, carried) "
            "and outputs (condition, carried, stacked); found 2 carried and 1 outputs; the body "
            "has 3 inputs and 2 outputs");
  onnx::GraphProto &taking = *hole.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  taking.add_input()->set_name("w");
  taking.add_output()->set_name("w");
  EXPECT_EQ(import(hole).messages(),
            "E0206 node 0 (Loop): Loop: no loop-carried value may be left out; found input 2");
}

/// Loops in loops, `depth` of them, each carrying v.
void nest(onnx::GraphProto &graph, const std::string &from, int depth) {
  const std::string to = depth == 0 ? "v" : "v" + std::to_string(depth);
  Node node = addNode(graph, "Loop", {"M", "", from}, {"r" + std::to_string(depth)});
  onnx::GraphProto &inner =
      body(node, {"i" + std::to_string(depth), "c" + std::to_string(depth), to},
           {"c" + std::to_string(depth), "w" + std::to_string(depth)});
  if (depth > 0)
    nest(inner, to, depth - 1);
  addNode(inner, "Neg", {depth > 0 ? "r" + std::to_string(depth - 1) : to},
          {"w" + std::to_string(depth)});
}

TEST(Loop, MayBeInAnother) {
  Model model(13);
  model.input("x", {2}).ints("M", {}, {2}).output("r20");
  nest(model.graph(), "x", 20);
  const Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "");
  EXPECT_NE(imported.text().find("sluice.loop"), std::string::npos);
}

TEST(Loop, TakesAFunctionsNamesInIt) {
  Model model(13);
  model.input("x", {2}).ints("M", {}, {3}).output("y");
  onnx::FunctionProto &function = *model.proto.add_functions();
  function.set_domain("my");
  function.set_name("Thrice");
  function.add_input("A");
  function.add_input("N");
  function.add_output("B");
  function.add_opset_import()->set_version(13);
  Node loopNode = addNode(function, "Loop", {"N", "", "A"}, {"B"});
  addNode(body(loopNode, {"i", "c", "x"}, {"c", "w"}), "Add", {"x", "A"}, {"w"});
  model.node("Thrice", {"x", "M"}, {"y"}).proto->set_domain("my");
  auto *domain = model.proto.add_opset_import();
  domain->set_domain("my");
  domain->set_version(1);
  const Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "");
  EXPECT_EQ(evaluate(imported, {{{2}, {1, 2}}})[0].values, (std::vector<double>{4, 8}));

  // A body calls functions too, but not the one it is in.
  onnx::GraphProto &graph = *function.mutable_node(0)->mutable_attribute(0)->mutable_g();
  graph.clear_node();
  addNode(graph, "Thrice", {"x", "N"}, {"w"}).proto->set_domain("my");
  function.add_opset_import()->set_domain("my");
  function.mutable_opset_import(1)->set_version(1);
  EXPECT_EQ(import(model).messages(),
            "E0113 node 0 'Thrice_0/Loop/Thrice' (Thrice): function 'Thrice' calls itself\n"
            "E0108 node 0 'Thrice_0/Loop' (Loop): 'Thrice_0#1/w' is used in graph 'body' before it "
            "is defined");
}

} // namespace
} // namespace sluice::frontend::test
