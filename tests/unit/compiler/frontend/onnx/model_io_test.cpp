#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using Proto = onnx::TensorProto;

/// Relu of x, whose dimensions are the given extents or names.
Model freeModel(const std::vector<std::pair<std::string, Names>> &inputs) {
  Model model;
  Names sum;
  for (const auto &[name, dims] : inputs) {
    model.input(name, {});
    auto *shape = model.graph()
                      .mutable_input(model.graph().input_size() - 1)
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    for (const std::string &dim : dims)
      if (!dim.empty() && std::isdigit(dim[0]))
        shape->add_dim()->set_dim_value(std::stoll(dim));
      else
        shape->add_dim()->set_dim_param(dim);
    model.node("Relu", {name}, {"out_" + name});
    model.output("out_" + name);
  }
  return model;
}

std::string errors(const Model &model, const std::map<std::string, Ints> &shapes) {
  ImportOptions options;
  options.inputShapes = shapes;
  return import(model, options).messages();
}

TEST(ModelInputs, FreeDimensionsNeedAShape) {
  Model model = freeModel({{"x", {"batch", "16"}}});
  Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "E0111: input 'x' has dynamic dimensions in its shape [batch 16]");
  EXPECT_EQ(imported.problems[0].fixes[0].flag, "--input-shape x=1,16");
  ImportOptions options;
  options.inputShapes["x"] = {3, 16};
  imported = import(model, options);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.inputs[0].shape, (Ints{3, 16}));
  EXPECT_EQ(imported.info.outputs[0].shape, (Ints{3, 16}));
}

TEST(ModelInputs, GivenShapesMustFit) {
  Model model = freeModel({{"x", {"batch", "16"}}});
  EXPECT_EQ(errors(model, {{"x", {1, 17}}}),
            "E0112: axis 1 of input 'x' is 16 in the model, but given as 17");
  EXPECT_EQ(errors(model, {{"x", {1}}}),
            "E0112: input 'x' has shape [batch 16] of rank 2, but the given shape [1] has rank 1");
  EXPECT_EQ(errors(model, {{"x", {-1, 16}}}),
            "E0112: axis 0 of input 'x' is given as -1; it must not be negative");
  EXPECT_EQ(
      errors(model, {{"x", {1, 16}}, {"z", {1}}}),
      "E0112: the model has no input or dimension 'z'; its inputs are 'x', its dimensions 'batch'");
  EXPECT_EQ(errors(freeModel({{"x", {"16"}}}), {{"z", {1}}}),
            "E0112: the model has no input 'z'; its inputs are 'x'");
  model.floats("w", {1}, {1});
  EXPECT_EQ(errors(model, {{"x", {1, 16}}, {"w", {1}}}),
            "E0112: cannot give a shape for 'w': it is an initializer");
}

TEST(ModelInputs, NamedDimensionsAreOne) {
  Model model = freeModel({{"x", {"n"}}, {"y", {"n", "2"}}});
  EXPECT_EQ(errors(model, {{"x", {3}}}), "");
  EXPECT_EQ(errors(model, {{"x", {3}}, {"y", {4, 2}}}),
            "E0112: dimension 'n' has two extents, 3 in input 'x' and 4 in input 'y'");
  Model unnamed = freeModel({{"x", {"None", "None"}}, {"y", {"?", ""}}});
  EXPECT_EQ(errors(unnamed, {{"x", {3, 4}}, {"y", {5, 6}}}), "");
}

TEST(ModelInputs, AMissingShapeMayBeGiven) {
  Model model;
  model.input("x", {}).output("y");
  model.node("Relu", {"x"}, {"y"});
  model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  const Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "E0111: input 'x' has no shape in the model");
  ASSERT_EQ(imported.problems[0].fixes.size(), 1U);
  EXPECT_EQ(imported.problems[0].fixes[0].text, "give its shape");
  EXPECT_EQ(imported.problems[0].fixes[0].flag, "--input-shape x=...");
  EXPECT_EQ(errors(model, {{"x", {2, 3}}}), "");
}

TEST(ModelInputs, MinusOneIsFree) {
  Model model;
  model.input("x", {-1, 4}).output("y", {-1, 4});
  model.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(errors(model, {}), "E0111: input 'x' has dynamic dimensions in its shape [? 4]");
  EXPECT_EQ(errors(model, {{"x", {2, 4}}}), "");
}

TEST(ModelInputs, OtherNegativeExtentsAreNotFree) {
  Model model;
  model.input("x", {2, -1, 4}).input("z", {3, -5}).output("y", {2, -1, 4}).output("w");
  model.node("Relu", {"x"}, {"y"});
  model.node("Relu", {"z"}, {"w"});
  const Imported imported = import(model);
  EXPECT_EQ(imported.messages(),
            "E0111: input 'x' has dynamic dimensions in its shape [2 ? 4]\n"
            "E0110: axis 1 of input 'z' is -5 in the model; it must not be negative");
  ASSERT_EQ(imported.problems[1].fixes.size(), 1U);
  EXPECT_EQ(imported.problems[1].fixes[0].text, "give the intended extent");
  EXPECT_EQ(imported.problems[1].fixes[0].flag, "--input-shape z=3,...");
  EXPECT_EQ(errors(model, {{"x", {2, 3, 4}}, {"z", {3, 5}}}), "");
}

/// A step of a network with a cache, which begins empty.
Model withCache() {
  Model model;
  model.input("x", {1, 1, 4}).input("cache", {1, 0, 4}).output("y").output("next");
  model.node("Concat", {"cache", "x"}, {"next"}).attribute("axis", int64_t{1});
  model.node("Relu", {"next"}, {"y"});
  return model;
}

TEST(ModelInputs, WithoutElementsVanishFromConcats) {
  const Imported imported = import(withCache());
  EXPECT_EQ(imported.messages(), "");
  EXPECT_THAT(imported.info.notes,
              testing::ElementsAre(
                  "input 'cache' has shape [1 0 4], which has no elements; it is left out"));
  ASSERT_EQ(imported.info.inputs.size(), 1U);
  EXPECT_EQ(imported.info.inputs[0].name, "x");
  EXPECT_EQ(imported.text().find("sluice.concat"), std::string::npos);
  // With elements it is an input as any other.
  EXPECT_EQ(errors(withCache(), {{"cache", {1, 2, 4}}}), "");
}

TEST(ModelInputs, WithoutElementsReachNothingElse) {
  Model model = withCache();
  model.node("Relu", {"cache"}, {"z"});
  model.output("z");
  const Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "E0205 node 2 (Relu): Relu: the operand [1 0 4] has no elements; "
                                 "the accelerator needs at least 1");
  ASSERT_EQ(imported.problems[0].fixes.size(), 1U);
  EXPECT_EQ(imported.problems[0].fixes[0].text, "give input 'cache' elements");
  EXPECT_EQ(imported.problems[0].fixes[0].flag, "--input-shape cache=1,...,4");
}

TEST(ModelInputs, StatesWithoutElementsStayEmpty) {
  ImportOptions options;
  options.states = {{"cache", "next"}};
  EXPECT_EQ(import(withCache(), options).messages(),
            "E0119: state output 'next' has shape [1 1 4], but state input 'cache' has shape "
            "[1 0 4]");
  Model model = withCache();
  model.ints("first", {1}, {0});
  model.node("Slice", {"next", "first", "first"}, {"none"});
  model.output("none");
  options.states = {{"cache", "none"}};
  EXPECT_EQ(import(model, options).messages(),
            "E0119: state output 'none' has shape [0 1 4], but state input 'cache' has shape "
            "[1 0 4]");
}

TEST(ModelInputs, ADimensionMayBeGivenByItsName) {
  Model model = freeModel({{"x", {"n", "m"}}, {"y", {"n", "2"}}});
  ImportOptions options;
  options.inputShapes = {{"n", {3}}, {"m", {4}}};
  const Imported imported = import(model, options);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.inputs[0].shape, (Ints{3, 4}));
  EXPECT_EQ(imported.info.inputs[1].shape, (Ints{3, 2}));
  EXPECT_EQ(errors(model, {{"n", {3}}, {"x", {3, 4}}}), "");
  EXPECT_EQ(errors(model, {{"n", {3}}, {"x", {2, 4}}}),
            "E0112: dimension 'n' has two extents, 2 in input 'x' and 3 by its name");
  EXPECT_EQ(errors(model, {{"m", {4}}, {"n", {3, 4}}, {"y", {1, 2}}}),
            "E0112: dimension 'n' is given 2 extents; it needs 1");
  EXPECT_EQ(errors(model, {{"m", {4}}, {"n", {-1}}, {"y", {1, 2}}}),
            "E0112: dimension 'n' is given as -1; it must not be negative");
  const std::string unknown = "E0112: the model has no input or dimension 'k'; its inputs are 'x', "
                              "'y', its dimensions 'm', 'n'";
  EXPECT_EQ(errors(model, {{"k", {4}}, {"x", {3, 4}}}), unknown);
}

TEST(ModelInputs, AreSuggested) {
  Model model = freeModel({{"pixels", {"batch", "2"}}});
  for (const auto &[wrong, right] : {std::pair{"pixel", "pixels"}, {"Batch", "batch"}}) {
    ImportOptions options;
    options.inputShapes = {{"pixels", {1, 2}}, {wrong, {1}}};
    const Imported imported = import(model, options);
    ASSERT_EQ(imported.problems.size(), 1U);
    ASSERT_EQ(imported.problems[0].fixes.size(), 1U);
    EXPECT_EQ(imported.problems[0].fixes[0].text, std::string("did you mean '") + right + "'");
  }
}

/// x [4 6] times a constant, reshaped to `shape`; y is declared with `declared`.
Model fixedBatch(const Ints &shape, const Ints &declared) {
  Model model;
  model.input("x", {4, 6}).floats("w", {6, 2}, Floats(12, 1)).output("y", declared);
  model.node("MatMul", {"x", "w"}, {"h"});
  model.ints("shape", {static_cast<int64_t>(shape.size())}, shape);
  model.node("Reshape", {"h", "shape"}, {"y"}).name("view");
  return model;
}

TEST(ModelInputs, AFixedBatchMayBeReplacedWhereTheModelAllowsIt) {
  ImportOptions options;
  options.inputShapes["x"] = {1, 6};
  const Imported imported = import(fixedBatch({-1, 2, 1}, {4, 2, 1}), options);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.outputs[0].shape, (Ints{1, 2, 1}));
  EXPECT_EQ(imported.info.notes, Names{"axis 0 of input 'x' is 4 in the model, but given as 1"});

  const std::string refused = "E0112: the model does not allow the given extents: axis 0 of input "
                              "'x' is 4 in the model, but given as 1";
  const Imported reshaped = import(fixedBatch({4, 2}, {4, 2}), options);
  EXPECT_EQ(reshaped.messages(), refused);
  EXPECT_THAT(reshaped.problems[0].notes,
              testing::ElementsAre(testing::StartsWith("node 1 'view' (Reshape): Reshape: ")));
  ASSERT_EQ(reshaped.problems[0].fixes.size(), 1U);
  EXPECT_EQ(reshaped.problems[0].fixes[0].text,
            "use the extents that the model declares, or export it with a dynamic batch axis");
  // The extent is part of another one.
  const Imported merged = import(fixedBatch({1, -1}, {1, 8}), options);
  EXPECT_EQ(merged.messages(), refused);
  EXPECT_EQ(merged.problems[0].notes,
            Names{"output 'y' is declared with shape [1 8], but its computed shape is [1 2]"});
}

TEST(ModelInputs, AreTensorsOfNumbers) {
  Model model;
  model.input("i", {1}, Proto::STRING).input("s", {1}, 17).input("q", {1}).input("n", {1});
  model.graph().mutable_input(2)->mutable_type()->mutable_sequence_type();
  model.graph().mutable_input(3)->clear_type();
  model.input("m", {1}).input("o", {1}).input("p", {1});
  model.graph().mutable_input(4)->mutable_type()->mutable_map_type();
  model.graph().mutable_input(5)->mutable_type()->mutable_optional_type();
  model.graph().mutable_input(6)->mutable_type()->mutable_sparse_tensor_type();
  model.output("q");
  EXPECT_EQ(errors(model, {}),
            "E0114: input 'i' has type string; sluice supports float, float16, bfloat16, double, "
            "bool and 8- to 64-bit integers\n"
            "E0114: input 's' has type float8e4m3fn; sluice supports float, float16, bfloat16, "
            "double, bool and 8- to 64-bit integers\n"
            "E0110: input 'q' is a sequence; expected a tensor\n"
            "E0110: input 'n' is a value without a type; expected a tensor\n"
            "E0110: input 'm' is a map; expected a tensor\n"
            "E0110: input 'o' is an optional; expected a tensor\n"
            "E0110: input 'p' is a sparse tensor; expected a tensor");
}

TEST(ModelInputs, AreBounded) {
  Model model;
  model.input("x", {1 << 16, 1 << 16}).output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(errors(model, {}),
            "E0110: input 'x' has shape [65536 65536], more than 2147483647 elements");
}

TEST(ModelInputs, InitializersAreNotInputs) {
  Model model;
  model.input("x", {1}).input("w", {1}).floats("w", {1}, {2}).output("y");
  model.node("Mul", {"x", "w"}, {"y"});
  Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  ASSERT_EQ(imported.info.inputs.size(), 1U);
  EXPECT_EQ(imported.info.inputs[0].name, "x");
  EXPECT_EQ(imported.info.parameters, 1U);
}

TEST(ModelInputs, PublishTheirTypes) {
  for (auto [type, host] : {std::pair{Proto::FLOAT16, format::HostType::Float16},
                            {Proto::BFLOAT16, format::HostType::BFloat16},
                            {Proto::DOUBLE, format::HostType::Float64},
                            {Proto::FLOAT, format::HostType::Float32}}) {
    Model model;
    model.input("x", {2}, type).output("y", {2}, type);
    model.node("Relu", {"x"}, {"y"});
    Imported imported = import(model);
    ASSERT_EQ(imported.messages(), "");
    EXPECT_EQ(imported.info.inputs[0].type, host);
    EXPECT_EQ(imported.info.outputs[0].type, host);
    EXPECT_THAT(imported.text(), testing::HasSubstr("tensor<2xf32> {sluice.name = \"x\"}"));
  }
}

TEST(ModelOutputs, MustBeAsDeclared) {
  Model model;
  model.input("x", {2, 3}).output("y", {2, 4}).output("z", {2, 3}, Proto::DOUBLE);
  model.node("Relu", {"x"}, {"y"});
  model.node("Relu", {"x"}, {"z"});
  EXPECT_EQ(errors(model, {}),
            "E0115: output 'y' is declared with shape [2 4], but its computed shape is [2 3]\n"
            "E0115: output 'z' is declared as double, but its computed type is float");
}

TEST(ModelOutputs, ExportersCountWindowsThatRoundedPoolingsDoNotHave) {
  Model model;
  model.input("x", {1, 1, 4, 9}).output("y", {1, 1, 3, 6});
  auto pool = model.node("MaxPool", {"x"}, {"y"});
  pool.name("pool").attribute("kernel_shape", Ints{2, 2}).attribute("strides", Ints{2, 2});
  pool.attribute("pads", Ints{1, 1, 1, 1});
  EXPECT_EQ(
      errors(model, {}),
      "E0115: output 'y' is declared with shape [1 1 3 6], but its computed shape is [1 1 3 5]");
  pool.attribute("ceil_mode", int64_t{1});
  const Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.outputs[0].shape, (Ints{1, 1, 3, 5}));
  EXPECT_EQ(imported.info.notes,
            Names{"output 'y' is declared with shape [1 1 3 6]; the program uses [1 1 3 5], as "
                  "node 0 'pool' (MaxPool) has no windows in the padding (ceil_mode)"});
  model.graph()
      .mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(3)
      ->set_dim_value(4);
  EXPECT_EQ(
      errors(model, {}),
      "E0115: output 'y' is declared with shape [1 1 3 4], but its computed shape is [1 1 3 5]");
}

TEST(ModelOutputs, OneElementMayBeDeclaredAsAScalarAndTheReverse) {
  Model model;
  model.input("x", {1}).input("s", {}).output("a", {}).output("b", {1}).output("c", {1, 1});
  model.node("Relu", {"x"}, {"a"});
  model.node("Relu", {"s"}, {"b"});
  model.node("Relu", {"s"}, {"c"});
  EXPECT_EQ(errors(model, {}),
            "E0115: output 'c' is declared with shape [1 1], but its computed shape is []");
  model.graph().mutable_output()->RemoveLast();
  const Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.outputs[0].shape, Ints{1});
  EXPECT_EQ(imported.info.outputs[1].shape, Ints{});
  EXPECT_EQ(
      imported.info.notes,
      (Names{"output 'a' is declared with shape []; the program uses the computed shape [1]",
             "output 'b' is declared with shape [1]; the program uses the computed shape []"}));
  model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      Proto::DOUBLE);
  EXPECT_EQ(errors(model, {}),
            "E0115: output 'a' is declared as double, but its computed type is float");
}

TEST(ModelOutputs, MayBeIntegersThatBf16Has) {
  Model model;
  model.input("x", {2, 3}).output("s");
  model.node("Shape", {"x"}, {"s"});
  Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(evaluate(imported, {{{2, 3}, {0, 0, 0, 0, 0, 0}}})[0].values,
            (std::vector<double>{2, 3}));
}

TEST(ModelOutputs, AreTensorsOfNumbersThatBf16Has) {
  Model model;
  model.input("x", {2, 257}).output("s").output("x");
  model.node("Shape", {"x"}, {"s"});
  model.graph().mutable_output(1)->mutable_type()->mutable_map_type();
  EXPECT_EQ(
      errors(model, {}),
      "E0114: output 's' is a constant of type int64 with element 257, which is not exact in bf16\n"
      "E0110: output 'x' is a map; expected a tensor");
}

TEST(ModelOutputs, MayBeInputsOrConstants) {
  Model model;
  model.input("x", {2}).floats("c", {1}, {3}).output("x").output("c");
  Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  auto results = evaluate(imported, {{{2}, {5, 6}}});
  EXPECT_EQ(results[0].values, (std::vector<double>{5, 6}));
  EXPECT_EQ(results[1].values, (std::vector<double>{3}));
}

TEST(SharedModels, Import) {
  const std::string folder = SHARED_MODELS;
  struct Expected {
    const char *name;
    uint64_t parameters;
    size_t nodes;
    Ints input, output;
  };
  for (const Expected &expected : {Expected{"acasxu", 13310, 22, {1, 1, 1, 5}, {1, 5}},
                                   Expected{"go1_policy", 192504, 14, {1, 48}, {1, 12}}}) {
    std::string path = folder + "/" + expected.name + "/model.onnx";
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << path << " is not here";
    Imported imported = importFile(path);
    ASSERT_EQ(imported.messages(), "");
    EXPECT_EQ(imported.info.parameters, expected.parameters);
    EXPECT_EQ(imported.info.nodes.size(), expected.nodes);
    EXPECT_EQ(imported.info.inputs.at(0).shape, expected.input);
    EXPECT_EQ(imported.info.outputs.at(0).shape, expected.output);
  }
}

} // namespace
} // namespace sluice::frontend::test
