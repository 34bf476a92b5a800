#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using Doubles = std::vector<double>;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Model slice(const Ints &shape, const Ints &starts, const Ints &ends, const Ints &axes,
            const Ints &steps, int64_t opset = 13) {
  Model model(opset);
  model.input("x", shape).output("y");
  if (opset < 10) {
    model.node("Slice", {"x"}, {"y"})
        .attribute("starts", starts)
        .attribute("ends", ends)
        .attribute("axes", axes);
    return model;
  }
  for (auto [name, values] : {std::pair{"s", starts}, {"e", ends}, {"a", axes}, {"t", steps}})
    model.ints(name, {static_cast<int64_t>(values.size())}, values);
  model.node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
  return model;
}

Doubles sliced(int64_t start, int64_t end, int64_t step, int64_t opset = 13) {
  return evaluateModel(slice({6}, {start}, {end}, {0}, {step}, opset), {counting({6})}).values;
}

TEST(Slice, ClampsAndSteps) {
  EXPECT_EQ(sliced(1, 3, 1), (Doubles{1, 2}));
  EXPECT_EQ(sliced(-2, kMost, 1), (Doubles{4, 5}));
  EXPECT_EQ(sliced(kLeast, 2, 1), (Doubles{0, 1}));
  EXPECT_EQ(sliced(0, 6, 4), (Doubles{0, 4}));
  EXPECT_EQ(sliced(5, kLeast, -2), (Doubles{5, 3, 1}));
  EXPECT_EQ(sliced(100, 0, -2), (Doubles{5, 3, 1}));
  EXPECT_EQ(sliced(-1, -4, -1), (Doubles{5, 4, 3}));
  EXPECT_EQ(sliced(3, 6, kMost), (Doubles{3}));
  EXPECT_EQ(sliced(3, kLeast, kLeast), (Doubles{3}));
  EXPECT_EQ(sliced(-100, kLeast, -1), (Doubles{0}));
}

TEST(Slice, InEveryVersion) {
  for (int64_t opset : {7, 9, 10, 11, 13, 23})
    EXPECT_EQ(sliced(1, -1, 1, opset), (Doubles{1, 2, 3, 4})) << opset;
  Model defaults(9);
  defaults.input("x", {2, 3}).output("y", {1, 2});
  defaults.node("Slice", {"x"}, {"y"})
      .attribute("starts", Ints{1, 1})
      .attribute("ends", Ints{2, 3});
  EXPECT_EQ(evaluateModel(defaults, {counting({2, 3})}).values, (Doubles{4, 5}));
}

TEST(Slice, OfTheWholeIsNothing) {
  EXPECT_THAT(import(slice({6}, {0}, {6}, {0}, {1})).text(), testing::HasSubstr("return %arg0"));
}

TEST(Slice, RefusesWhatMakesNoSense) {
  EXPECT_EQ(import(slice({6}, {0}, {6}, {0}, {0})).messages(),
            "E0206 node 0 (Slice): Slice: 'steps' must not be 0; found [0]");
  EXPECT_EQ(import(slice({6}, {0}, {6}, {1}, {1})).messages(),
            "E0206 node 0 (Slice): Slice: 'axes' must be distinct axes of 'data'; found axis 1 for "
            "rank 1");
  EXPECT_EQ(import(slice({6}, {0, 0}, {6}, {0}, {1})).messages(),
            "E0206 node 0 (Slice): Slice: 'starts', 'ends', 'axes' and 'steps' must have the same "
            "length; found 2, 1, 1 and 1");
}

TEST(Slice, WithoutElementsIsKnown) {
  Model model = slice({6}, {3}, {2}, {0}, {1});
  EXPECT_EQ(import(model).messages(),
            "E0114: output 'y' has shape [0], which has no elements; at least 1 is needed");
  model.node("Size", {"y"}, {"n"});
  model.node("Cast", {"n"}, {"f"}).attribute("to", int64_t{onnx::TensorProto::FLOAT});
  model.node("Add", {"x", "f"}, {"z"});
  model.graph().clear_output();
  model.output("z");
  EXPECT_EQ(evaluateModel(model, {counting({6})}).values, (Doubles{0, 1, 2, 3, 4, 5}));
}

Model split(int64_t opset, int64_t extent, size_t outputs) {
  Model model(opset);
  model.input("x", {2, extent});
  Names names;
  for (size_t i = 0; i < outputs; ++i) {
    names.push_back("y" + std::to_string(i));
    model.output(names.back());
  }
  model.node("Split", {"x"}, names).attribute("axis", int64_t{-1});
  return model;
}

TEST(Split, IntoEqualParts) {
  for (int64_t opset : {7, 11, 13}) {
    Imported imported = import(split(opset, 4, 2));
    ASSERT_EQ(imported.messages(), "");
    auto results = evaluate(imported, {counting({2, 4})});
    EXPECT_EQ(results[0].values, (Doubles{0, 1, 4, 5}));
    EXPECT_EQ(results[1].values, (Doubles{2, 3, 6, 7}));
  }
}

TEST(Split, IntoGivenParts) {
  for (int64_t opset : {7, 11, 13, 18}) {
    Model model = split(opset, 4, 2);
    if (opset < 13) {
      Node(model.graph().mutable_node(0)).attribute("split", Ints{1, 3});
    } else {
      model.ints("parts", {2}, {1, 3});
      model.graph().mutable_node(0)->add_input("parts");
    }
    Imported imported = import(model);
    ASSERT_EQ(imported.messages(), "");
    EXPECT_EQ(evaluate(imported, {counting({2, 4})})[1].values, (Doubles{1, 2, 3, 5, 6, 7}));
  }
}

/// Opset 1 has the parts as an input too, of the type of what is split.
TEST(Split, IntoPartsThatAreFloatsInOpset1) {
  const auto parts = [](const Floats &sizes) {
    Model model = split(1, 4, 2);
    model.floats("parts", {static_cast<int64_t>(sizes.size())}, sizes);
    model.graph().mutable_node(0)->add_input("parts");
    return model;
  };
  const Imported imported = import(parts({1, 3}));
  ASSERT_EQ(imported.messages(), "");
  const auto results = evaluate(imported, {counting({2, 4})});
  EXPECT_EQ(results[0].values, (Doubles{0, 4}));
  EXPECT_EQ(results[1].values, (Doubles{1, 2, 3, 5, 6, 7}));

  const std::string start = "E0206 node 0 (Split): Split: ";
  EXPECT_EQ(import(parts({3, 3})).messages(),
            start + "the parts must be at least 0, one per output, and add up to the extent of "
                    "'axis'; found [3 3] for 2 outputs of extent 4");
  const std::string whole =
      start + "every element of input 'split' must be a whole number in [0, 2147483647]; found ";
  EXPECT_EQ(import(parts({1.5F, 2.5F})).messages(), whole + "1.5");
  EXPECT_EQ(import(parts({-1, 5})).messages(), whole + "-1");
  EXPECT_EQ(import(parts({std::numeric_limits<float>::quiet_NaN(), 4})).messages(), whole + "nan");
  EXPECT_EQ(import(parts({4e9F, 0})).messages(), whole + "4000000000");
  Model both = parts({1, 3});
  Node(both.graph().mutable_node(0)).attribute("split", Ints{1, 3});
  EXPECT_EQ(import(both).messages(),
            start + "input 'split' and attribute 'split' must not both be given; found both");
  Model second = parts({1, 3});
  second.proto.mutable_opset_import(0)->set_version(2);
  EXPECT_EQ(import(second).messages(), "E0204 node 0 (Split): Split has 2 inputs; expected 1");
}

TEST(Split, IntoACountFromOpset18On) {
  Model model = split(18, 5, 2);
  Node(model.graph().mutable_node(0)).attribute("num_outputs", int64_t{2});
  Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.outputs[0].shape, (Ints{2, 3}));
  EXPECT_EQ(imported.info.outputs[1].shape, (Ints{2, 2}));
  EXPECT_EQ(import(split(18, 5, 2)).messages(),
            "E0206 node 0 (Split): Split: exactly one of input 'split' and attribute 'num_outputs' "
            "must be given; found neither");
  Model wrong = split(18, 6, 2);
  Node(wrong.graph().mutable_node(0)).attribute("num_outputs", int64_t{3});
  EXPECT_EQ(import(wrong).messages(), "E0206 node 0 (Split): Split: attribute 'num_outputs' must "
                                      "be the number of outputs; found 3 for 2 outputs");
}

TEST(Split, PartsMustAddUp) {
  const std::string sentence = "E0206 node 0 (Split): Split: the parts must be at least 0, one per "
                               "output, and add up to the extent of 'axis'; found ";
  EXPECT_EQ(import(split(13, 5, 2)).messages(), sentence + "[3 3] for 2 outputs of extent 5");
  for (const Ints &parts : {Ints{1, 2}, Ints{-1, 5}, Ints{4}, Ints{kMost, 1}}) {
    Model model = split(11, 4, 2);
    Node(model.graph().mutable_node(0)).attribute("split", parts);
    EXPECT_THAT(import(model).messages(), testing::StartsWith(sentence));
  }
}

TEST(Split, AllowsEmptyParts) {
  for (int64_t opset : {11, 13}) {
    Model model = split(opset, 4, 3);
    if (opset < 13) {
      Node(model.graph().mutable_node(0)).attribute("split", Ints{4, 0, 0});
    } else {
      model.ints("parts", {3}, {4, 0, 0});
      model.graph().mutable_node(0)->add_input("parts");
    }
    EXPECT_EQ(import(model).messages(), "");
    EXPECT_THAT(
        import(model).info.notes,
        testing::ElementsAre("output 'y1' has shape [2 0], which has no elements; it is left out",
                             "output 'y2' has shape [2 0], which has no elements; it is left out"));
    model.graph().clear_output();
    model.output("z");
    model.node("Concat", {"y1", "y0", "y2"}, {"z"}).attribute("axis", int64_t{1});
    EXPECT_EQ(evaluateModel(model, {counting({2, 4})}).values, counting({2, 4}).values);
    model.output("r");
    model.node("Relu", {"y1"}, {"r"});
    EXPECT_EQ(import(model).messages(), "E0205 node 2 (Relu): Relu: the operand [2 0] has no "
                                        "elements; the accelerator needs at least 1");
  }
}

TEST(Concat, LeavesOutEmptyConstants) {
  Model model;
  model.input("x", {2, 1}).input("v", {2, 2}).floats("none", {2, 0}, {}).output("y").output("z");
  model.node("Concat", {"none", "x"}, {"y"}).attribute("axis", int64_t{1});
  model.node("Concat", {"x", "none", "v"}, {"z"}).attribute("axis", int64_t{1});
  const Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  const auto results = evaluate(imported, {counting({2, 1}), counting({2, 2})});
  EXPECT_EQ(results[0].values, (Doubles{0, 1}));
  EXPECT_EQ(results[1].values, (Doubles{0, 0, 1, 1, 2, 3}));
}

TEST(Concat, JoinsRunTimeAndKnownTensors) {
  for (int64_t opset : {7, 11, 13}) {
    Model model(opset);
    model.input("x", {2, 1}).floats("c", {2, 2}, {10, 11, 12, 13}).output("y", {2, 3});
    model.node("Concat", {"x", "c"}, {"y"}).attribute("axis", int64_t{-1});
    EXPECT_EQ(evaluateModel(model, {counting({2, 1})}).values, (Doubles{0, 10, 11, 1, 12, 13}));
  }
}

TEST(Concat, ChecksShapes) {
  Model model;
  model.input("x", {2, 1}).input("v", {3, 1}).input("w", {2}).output("y").output("z");
  model.node("Concat", {"x", "v"}, {"y"}).attribute("axis", int64_t{1});
  model.node("Concat", {"x", "w"}, {"z"}).attribute("axis", int64_t{1});
  EXPECT_EQ(import(model).messages(), "E0206 node 0 (Concat): Concat: the input shapes must be "
                                      "equal except along 'axis'; found [2 1] and [3 1]\n"
                                      "E0206 node 1 (Concat): Concat: the input shapes must be "
                                      "equal except along 'axis'; found [2 1] and [2]");
}

} // namespace
} // namespace sluice::frontend::test
