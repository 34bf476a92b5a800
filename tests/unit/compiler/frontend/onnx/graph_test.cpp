#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

Model identityModel(int64_t opset = 13, int64_t ir = 8) {
  Model model(opset, ir);
  model.input("x", {2}).output("y");
  model.node("Relu", {"x"}, {"y"}).name("act");
  return model;
}

TEST(Versions, AcceptsTheSupportedOnes) {
  for (int64_t opset = 7; opset <= 23; ++opset)
    EXPECT_EQ(import(identityModel(opset)).messages(), "") << opset;
  for (int64_t ir = 3; ir <= 13; ++ir)
    EXPECT_EQ(import(identityModel(13, ir)).messages(), "") << ir;
  Imported imported = import(identityModel(9, 4));
  EXPECT_EQ(imported.info.opset, 9);
  EXPECT_EQ(imported.info.irVersion, 4);
}

TEST(Versions, RefusesOthers) {
  EXPECT_EQ(import(identityModel(0)).messages(),
            "E0104: the model uses opset 0; sluice supports 1 to 26");
  EXPECT_EQ(import(identityModel(27)).messages(),
            "E0104: the model uses opset 27; sluice supports 1 to 26");
  EXPECT_EQ(import(identityModel(13, 2)).messages(),
            "E0104: the model has IR version 2; sluice supports 3 to 13");
  EXPECT_EQ(import(identityModel(13, 14)).messages(),
            "E0104: the model has IR version 14; sluice supports 3 to 13");
  Model model = identityModel();
  model.proto.clear_opset_import();
  EXPECT_EQ(import(model).messages(),
            "E0102: the model imports no opset; the file is truncated, or older than ONNX 1.0");
}

TEST(Names, AreText) {
  Model model = identityModel();
  model.proto.mutable_graph()->mutable_node(0)->set_name("fc\xC2.out");
  model.proto.mutable_graph()->mutable_node(0)->set_op_type("Re\xFF");
  model.proto.mutable_graph()->mutable_input(0)->set_name("\xFE");
  model.proto.mutable_graph()->mutable_output(0)->set_name("\xFF");
  EXPECT_EQ(
      import(model).messages(),
      "E0102: the name of node 0 is 'fc\uFFFD.out', which is not UTF-8 text; the file is damaged\n"
      "E0102: the operator of node 0 is 'Re\uFFFD', which is not UTF-8 text; the file is damaged\n"
      "E0102: the name of a graph input is '\uFFFD', which is not UTF-8 text; the file is damaged\n"
      "E0102: the name of a graph output is '\uFFFD', which is not UTF-8 text; the file is "
      "damaged");
}

TEST(Versions, DomainsMayBeImportedWithoutUse) {
  Model model = identityModel();
  model.proto.mutable_opset_import(0)->set_domain("ai.onnx");
  auto *other = model.proto.add_opset_import();
  other->set_domain("ai.onnx.ml");
  other->set_version(30);
  EXPECT_EQ(import(model).messages(), "");
  other->set_domain("");
  EXPECT_EQ(import(model).messages(),
            "E0104: the model imports domain '' in two versions, 13 and 30\n"
            "E0104: the model uses opset 30; sluice supports 1 to 26");
}

TEST(Operators, ListsAllThatAreUnsupported) {
  Model model = identityModel(11);
  model.node("Frobnicate", {"y"}, {"a"}).name("f1");
  model.node("Custom", {"a"}, {"b"}).proto->set_domain("my.domain");
  model.node("StringNormalizer", {"a"}, {"c"});
  Node map = model.node("Adjust", {"c"}, {"d"});
  map.attribute("body").set_type(onnx::AttributeProto::GRAPH);
  map.proto->mutable_attribute(0)->mutable_g();
  model.node("Relu", {"d"}, {"z"}).attribute("alpha", 1.0F);
  auto *domain = model.proto.add_opset_import();
  domain->set_domain("my.domain");
  domain->set_version(1);
  for (const char *name : {"b", "z"})
    model.output(name);
  EXPECT_EQ(
      import(model).messages(),
      "E0201 node 1 'f1' (Frobnicate): operator 'Frobnicate' is not supported: ONNX has no "
      "operator of this name up to opset 26\n"
      "E0201 node 2 (Custom): operator 'Custom' is not supported: domain 'my.domain' is not ONNX's "
      "own, and the model has no such function\n"
      "E0201 node 3 (StringNormalizer): operator 'StringNormalizer' is not supported: it works on "
      "strings; the accelerator computes numbers only\n"
      "E0201 node 4 (Adjust): operator 'Adjust' is not supported: it contains a graph, and its "
      "control flow is not supported\n"
      "E0203 node 5 (Relu): attribute 'alpha' of Relu is not supported in opset 11; Relu has none");
}

TEST(Operators, NeedTheirDomainAndVersion) {
  Model model = identityModel(8);
  model.node("ConstantOfShape", {"y"}, {"z"});
  model.node("Custom", {"y"}, {"w"}).proto->set_domain("my.domain");
  model.output("z").output("w");
  EXPECT_EQ(import(model).messages(), "E0202 node 1 (ConstantOfShape): operator 'ConstantOfShape' "
                                      "exists since opset 9, but the model uses opset 8\n"
                                      "E0202 node 2 (Custom): operator 'Custom' belongs to domain "
                                      "'my.domain', which the model does not import");
}

TEST(Operators, ChecksAttributesAndOperands) {
  Model model(13);
  model.input("x", {2, 3}).floats("w", {3, 2}, Floats(6, 1)).output("a");
  model.node("Gemm", {"x", "w"}, {"a"})
      .attribute("transA", int64_t{2})
      .attribute("alpha", int64_t{1})
      .attribute("beta", 1.0F)
      .attribute("beta", 2.0F);
  model.node("Concat", {"x", "x"}, {"b"});
  model.node("Relu", {"x", "x"}, {"c"});
  model.node("MatMul", {"x"}, {"d"});
  model.node("Add", {"", "x"}, {"e"});
  model.node("Relu", {"x"}, {"f", "g"});
  for (const char *name : {"b", "c", "d", "e", "f"})
    model.output(name);
  EXPECT_EQ(
      import(model).messages(),
      "E0203 node 0 (Gemm): Gemm: attribute 'transA' must be 0 or 1 (default 0); found 2\n"
      "E0203 node 0 (Gemm): Gemm: attribute 'alpha' must be a float (default 1); found an int\n"
      "E0203 node 0 (Gemm): attribute 'beta' is given twice\n"
      "E0203 node 1 (Concat): Concat: attribute 'axis' must be an int (required); found none\n"
      "E0204 node 2 (Relu): Relu has 2 inputs; expected 1\n"
      "E0204 node 3 (MatMul): MatMul has 1 inputs; expected 2\n"
      "E0204 node 4 (Add): Add leaves out its required input 'A'\n"
      "E0204 node 5 (Relu): Relu has 2 outputs; expected 1");
}

TEST(Operators, NameTheKindOfAnAttribute) {
  using Kind = onnx::AttributeProto;
  Model model(13);
  model.input("x", {2}).output("y");
  Node relu = model.node("LeakyRelu", {"x"}, {"y"});
  onnx::AttributeProto &alpha = relu.attribute("alpha");
  for (const auto &[kind, text] : {std::pair{Kind::INT, "an int"},
                                   {Kind::STRING, "a string"},
                                   {Kind::TENSOR, "a tensor"},
                                   {Kind::INTS, "a list of ints"},
                                   {Kind::FLOATS, "a list of floats"},
                                   {Kind::STRINGS, "a list of strings"},
                                   {Kind::GRAPH, "a graph"},
                                   {Kind::SPARSE_TENSOR, "a sparse tensor"},
                                   {Kind::SPARSE_TENSORS, "a list of sparse tensors"},
                                   {Kind::UNDEFINED, "no value"}}) {
    alpha.set_type(kind);
    EXPECT_EQ(import(model).messages(),
              std::string("E0203 node 0 (LeakyRelu): LeakyRelu: attribute 'alpha' must be a float "
                          "(default 0.01); found ") +
                  text);
  }
  alpha.set_type(Kind::FLOAT);
  alpha.set_ref_attr_name("slope");
  EXPECT_EQ(import(model).messages(),
            "E0203 node 0 (LeakyRelu): LeakyRelu: attribute 'alpha' must be a float (default "
            "0.01); found a reference to a function attribute outside a function");
}

TEST(Graph, RefusesDuplicateNames) {
  Model model = identityModel();
  model.input("x", {2}).floats("w", {1}, {1}).floats("w", {1}, {1}).output("y");
  model.node("Relu", {"x"}, {"y"}).name("second");
  model.node("Relu", {"x"}, {"x"});
  model.node("Relu", {"x"}, {"w"});
  EXPECT_EQ(import(model).messages(),
            "E0107: two initializers are named 'w'\n"
            "E0107: two graph inputs are named 'x'\n"
            "E0107 node 1 'second' (Relu): output 'y' is already defined by node 0 'act' (Relu)\n"
            "E0107 node 2 (Relu): output 'x' is already defined by a graph input\n"
            "E0107 node 3 (Relu): output 'w' is already defined by an initializer\n"
            "E0107: two graph outputs are named 'y'");
}

TEST(Graph, RefusesEmptyNames) {
  Model initializer = identityModel();
  initializer.floats("", {1}, {1});
  EXPECT_EQ(import(initializer).messages(), "E0105: an initializer has no name");
  Model input = identityModel();
  input.input("", {2});
  EXPECT_EQ(import(input).messages(), "E0110: a graph input has no name");
}

TEST(Graph, RefusesUndefinedNames) {
  Model model = identityModel();
  model.node("Add", {"y", "ghost\n"}, {"z"}).name("sum");
  model.output("z").output("nowhere");
  EXPECT_EQ(import(model).messages(),
            "E0108 node 1 'sum' (Add): input 1 is 'ghost\\x0a', but no graph input, initializer or "
            "node defines it\n"
            "E0110: no graph input, initializer or node defines graph output 'nowhere'");
}

TEST(Graph, RefusesCyclesAndNamesTheirNodes) {
  Model model;
  model.input("x", {2}).output("d").output("s");
  model.node("Add", {"x", "c"}, {"a"}).name("first");
  model.node("Relu", {"a"}, {"b"}).name("second");
  model.node("Relu", {"b"}, {"c"}).name("third");
  model.node("Relu", {"c"}, {"d"}).name("behind");
  model.node("Add", {"s", "x"}, {"s"}).name("self");
  Imported imported = import(model);
  EXPECT_EQ(imported.messages(),
            "E0109 node 0 'first' (Add): 3 nodes form a cycle; each depends on the one before\n"
            "E0109 node 4 'self' (Add): the node depends on its own result");
  EXPECT_THAT(imported.problems[0].notes,
              testing::ElementsAre("node 0 'first' (Add)", "node 1 'second' (Relu)",
                                   "node 2 'third' (Relu)"));
}

TEST(Graph, AcceptsNodesInAnyOrder) {
  Model model;
  model.input("x", {2}).output("c");
  model.node("Relu", {"b"}, {"c"});
  model.node("Neg", {"x"}, {"b"});
  EXPECT_EQ(evaluateModel(model, {{{2}, {-3, 4}}}).values, (std::vector<double>{3, 0}));
}

TEST(Graph, LeavesOutWhatNoOutputNeeds) {
  Model model = identityModel();
  model.node("Frobnicate", {"y"}, {"unused"});
  Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.nodes.size(), 2U); // still in the list of source nodes
  EXPECT_EQ(imported.info.nodes[1].op, "Frobnicate");
}

TEST(Graph, NeedsInputsAndOutputs) {
  Model model;
  model.floats("x", {2}, {1, 2});
  model.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(import(model).messages(), "E0110: the graph has no outputs");
}

/// A graph attribute with the nodes op(input) = output, whose results are `outputs`.
onnx::GraphProto &body(Node node, const std::string &attribute, const Names &outputs) {
  onnx::AttributeProto &out = node.attribute(attribute);
  out.set_type(onnx::AttributeProto::GRAPH);
  for (const std::string &name : outputs)
    out.mutable_g()->add_output()->set_name(name);
  return *out.mutable_g();
}

TEST(Graph, NamesInABodyAreItsOwn) {
  Model model;
  model.input("x", {5, 3}).floats("s0", {3}, {0, 0, 0}).output("o");
  const Node scan = model.node("Scan", {"s0", "x"}, {"sf", "o"});
  onnx::GraphProto &steps = body(scan, "body", {"s2", "oo"});
  steps.add_input()->set_name("s");
  steps.add_input()->set_name("xi");
  addNode(steps, "Add", {"s", "xi"}, {"o"});
  addNode(steps, "Identity", {"o"}, {"s2"});
  addNode(steps, "Identity", {"o"}, {"oo"});
  scan.proto->add_attribute()->CopyFrom(
      Model().node("", {}, {}).attribute("num_scan_inputs", int64_t{1}).proto->attribute(0));
  EXPECT_EQ(import(model).messages(), "");
  // What the body does not define is still what the node needs.
  addNode(steps, "Identity", {"sf"}, {"again"});
  EXPECT_EQ(import(model).messages(), "E0109 node 0 (Scan): the node depends on its own result");
}

TEST(Graph, AnIfHasACondition) {
  Model model;
  model.input("x", {2}).output("y");
  const Node node = model.node("If", {""}, {"y"});
  for (const char *branch : {"then_branch", "else_branch"})
    addNode(body(node, branch, {"z"}), "Relu", {"x"}, {"z"});
  EXPECT_EQ(import(model).messages(), "E0204 node 0 (If): If has 0 inputs; expected 1");
}

/// An If on `condition` whose branches are op(input) = `inner`.
void addIf(Model &model, const std::string &condition, const std::string &op,
           const std::string &input, const std::string &inner, const std::string &output) {
  const Node node = model.node("If", {condition}, {output});
  for (const char *branch : {"then_branch", "else_branch"})
    addNode(body(node, branch, {inner}), op, {input}, {inner});
}

TEST(Graph, ABranchMayUseWhatCouldNotBeImported) {
  Model model;
  model.input("x", {4}).ints("number", {}, {1}).floats("zero", {}, {0}).output("y");
  model.node("Cast", {"number"}, {"true"}).attribute("to", int64_t{onnx::TensorProto::BOOL});
  model.node("ReduceMax", {"x"}, {"m"}).attribute("keepdims", int64_t{0});
  model.node("Greater", {"m", "zero"}, {"open"});
  addIf(model, "open", "Relu", "x", "b", "a");
  addIf(model, "true", "Abs", "a", "c", "y");
  const std::string unknown =
      "E0205 node 3 (If): If: input 'cond' must be one bool known at compile time (a constant, or "
      "from constants and shapes); found a run-time tensor bool []";
  EXPECT_EQ(import(model).messages(), unknown);
  // Every name that nothing defines is reported, also behind another problem.
  addIf(model, "true", "Abs", "ghost", "d", "z");
  model.output("z");
  EXPECT_EQ(import(model).messages(), unknown + "\n"
                                                "E0108 node 5 'If_5/Abs' (Abs): 'ghost' is used in "
                                                "graph 'else_branch' before it is defined\n"
                                                "E0108 node 5 'If_5/Abs' (Abs): 'ghost' is used in "
                                                "graph 'then_branch' before it is defined");
}

/// A model whose If takes 'then_branch', with what `fill` puts into the other one.
std::string messagesOfOther(const std::function<void(onnx::GraphProto &)> &fill,
                            const Names &outputs = {"b"}) {
  Model model;
  model.input("x", {2}).ints("number", {}, {1}).output("y");
  model.node("Cast", {"number"}, {"true"}).attribute("to", int64_t{onnx::TensorProto::BOOL});
  const Node node = model.node("If", {"true"}, {"y"});
  addNode(body(node, "then_branch", {"a"}), "Neg", {"x"}, {"a"});
  fill(body(node, "else_branch", outputs));
  return import(model).messages();
}

TEST(Graph, TheBranchNotTakenIsValid) {
  using Graph = onnx::GraphProto;
  // What is not supported may stand in it.
  EXPECT_EQ(messagesOfOther([](Graph &g) { addNode(g, "StringNormalizer", {"x"}, {"b"}); }), "");
  EXPECT_EQ(messagesOfOther([](Graph &g) { addNode(g, "MatMul", {"x", "number"}, {"b"}); }), "");
  EXPECT_EQ(messagesOfOther([](Graph &g) {
              addNode(g, "Custom", {"x"}, {"b"}).proto->set_domain("of.ours");
              onnx::TensorProto &text = *g.add_initializer();
              text.set_name("text");
              text.set_data_type(onnx::TensorProto::STRING);
            }),
            "");
  EXPECT_EQ(messagesOfOther([](Graph &g) { addNode(g, "Relu", {"ghost"}, {"b"}); }),
            "E0108 node 1 'If_1/Relu' (Relu): 'ghost' is used in graph 'else_branch' before it is "
            "defined");
  EXPECT_EQ(messagesOfOther([](Graph &) {}),
            "E0108 node 1 (If): 'b' is used in graph 'else_branch' before it is defined");
  EXPECT_EQ(
      messagesOfOther([](Graph &g) { addNode(g, "Relu", {"x"}, {"b"}); }, {""}),
      "E0108 node 1 (If): output 0 of graph 'else_branch' has no name, so nothing defines it");
  EXPECT_EQ(messagesOfOther([](Graph &g) {
              addNode(g, "Relu", {"x"}, {"b"});
              addNode(g, "Neg", {"x"}, {"b"});
            }),
            "E0107 node 1 'If_1/Neg' (Neg): 'b' is defined twice in graph 'else_branch'");
  EXPECT_EQ(messagesOfOther([](Graph &g) {
              addNode(g, "Relu", {"x"}, {"b"});
              addNode(g, "Neg", {"b"}, {"number"});
            }),
            "E0107 node 1 'If_1/Neg' (Neg): 'number' in graph 'else_branch' is already defined "
            "outside the graph");
  EXPECT_EQ(messagesOfOther([](Graph &g) { addNode(g, "Relu", {"x", "x"}, {"b"}); }),
            "E0204 node 1 'If_1/Relu' (Relu): Relu has 2 inputs; expected 1");
  EXPECT_EQ(messagesOfOther([](Graph &g) { addNode(g, "Rellu", {"x"}, {"b"}); }),
            "E0201 node 1 'If_1/Rellu' (Rellu): operator 'Rellu' is not supported: ONNX has no "
            "operator of this name up to opset 26");
  EXPECT_EQ(messagesOfOther([](Graph &g) {
              addNode(g, "Relu", {"x"}, {"b"});
              onnx::TensorProto &cut = *g.add_initializer();
              cut.set_name("cut");
              cut.set_data_type(onnx::TensorProto::FLOAT);
              cut.add_dims(3);
            }),
            "E0105: initializer 'cut' has shape [3], but no data");
  // In the branches of a branch too.
  EXPECT_EQ(messagesOfOther([](Graph &g) {
              const Node inner = addNode(g, "If", {"true"}, {"b"});
              addNode(body(inner, "then_branch", {"c"}), "Relu", {"x"}, {"c"});
              addNode(body(inner, "else_branch", {"c"}), "Relu", {"lost"}, {"c"});
            }),
            "E0108 node 1 'If_1/If/Relu' (Relu): 'lost' is used in graph 'else_branch' before it "
            "is defined");
}

TEST(Graph, ATakenBranchDefinesNothingTwice) {
  Model model;
  model.input("x", {2}).ints("number", {}, {1}).output("y");
  model.node("Cast", {"number"}, {"true"}).attribute("to", int64_t{onnx::TensorProto::BOOL});
  const Node node = model.node("If", {"true"}, {"y"});
  onnx::GraphProto &then = body(node, "then_branch", {"a"});
  addNode(then, "Neg", {"x"}, {"a"});
  addNode(then, "Relu", {"x"}, {"a"});
  addNode(body(node, "else_branch", {"b"}), "Neg", {"x"}, {"b"});
  EXPECT_EQ(import(model).messages(),
            "E0107 node 1 'If_1/Relu' (Relu): 'a' is defined twice in graph 'then_branch'");
}

TEST(Graph, ABranchMayNameItsResultLikeTheIf) {
  Model model;
  model.input("x", {2}).ints("number", {}, {1}).output("z");
  model.node("Cast", {"number"}, {"true"}).attribute("to", int64_t{onnx::TensorProto::BOOL});
  addIf(model, "true", "Neg", "x", "y", "y");
  model.node("Relu", {"y"}, {"z"});
  EXPECT_EQ(evaluateModel(model, {{{2}, {-3, 4}}}).values, (std::vector<double>{3, 0}));
}

/// What is in a body is done in every trip and is not a tensor of the model; a branch is.
TEST(Graph, ABranchStandsWhereItsIfDoes) {
  Model model;
  model.input("x", {2}).ints("number", {}, {1}).output("z");
  model.node("Cast", {"number"}, {"true"}).attribute("to", int64_t{onnx::TensorProto::BOOL});
  const Node node = model.node("If", {"true"}, {"y"});
  onnx::GraphProto &then = body(node, "then_branch", {"sum"});
  addNode(then, "RandomUniformLike", {"x"}, {"noise"});
  addNode(then, "Add", {"x", "noise"}, {"sum"});
  addNode(body(node, "else_branch", {"none"}), "Neg", {"x"}, {"none"});
  model.node("Relu", {"y"}, {"z"});
  ImportOptions options;
  options.fixedRandom = true;
  const Imported imported = import(model, options);
  EXPECT_EQ(imported.messages(), "");
  Names names;
  for (const auto &tensor : imported.info.tensors)
    names.push_back(tensor.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"noise", "sum", "y", "z"}));
}

TEST(Graph, AnIfHasTwoBranches) {
  Model model;
  model.input("x", {2}).ints("number", {}, {1}).output("y");
  model.node("Cast", {"number"}, {"true"}).attribute("to", int64_t{onnx::TensorProto::BOOL});
  const Node node = model.node("If", {"true"}, {"y"});
  addNode(body(node, "then_branch", {"a"}), "Neg", {"x"}, {"a"});
  EXPECT_EQ(
      import(model).messages(),
      "E0203 node 1 (If): If: attribute 'else_branch' must be a graph (required); found none");
  body(node, "else_branch", {"x", "x"});
  EXPECT_EQ(import(model).messages(),
            "E0206 node 1 (If): If: 'then_branch' and 'else_branch' must have as many outputs as "
            "the node; found 1 and 2 outputs for 1");
}

TEST(Graph, ReadsSparseInitializers) {
  Model model;
  model.input("x", {3}).output("y").node("Add", {"x", "s"}, {"y"});
  onnx::SparseTensorProto &sparse = *model.graph().add_sparse_initializer();
  setFiveAtOne(sparse, 3);
  sparse.mutable_values()->set_name("s");
  EXPECT_EQ(evaluateModel(model, {counting({3})}).values, (std::vector<double>{0, 6, 2}));
  sparse.mutable_indices()->set_int64_data(0, 3);
  EXPECT_EQ(import(model).messages(),
            "E0105: initializer 's' has an index, number 0, that is outside of its shape [3] or "
            "does not follow the one before");
}

TEST(Graph, KeepsNodesInLocations) {
  Imported imported = import(identityModel());
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(true, false);
  (*imported.module)->print(stream, flags);
  EXPECT_THAT(text, testing::HasSubstr("#sluice.node<0, \"act\", \"Relu\">"));
}

TEST(Graph, EmptyNamesAtTheEndAreLeftOutInputs) {
  Model model;
  model.input("x", {1, 4}).output("y");
  model.node("Concat", {"x", "x", "", ""}, {"y"}).attribute("axis", int64_t{1});
  const Imported two = import(model);
  EXPECT_EQ(two.messages(), "");
  EXPECT_EQ(two.info.outputs[0].shape, (Ints{1, 8}));

  Model between;
  between.input("x", {1, 4}).output("y");
  between.node("Concat", {"x", "", "x"}, {"y"}).attribute("axis", int64_t{1});
  EXPECT_EQ(import(between).messages(),
            "E0204 node 0 (Concat): Concat leaves out its required input 'inputs'");
}

} // namespace
} // namespace sluice::frontend::test
