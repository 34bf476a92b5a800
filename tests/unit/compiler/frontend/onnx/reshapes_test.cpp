#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

/// Shape of y in a model of one node with run-time x and the known inputs.
Ints shapeOf(const Model &model) {
  Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "");
  if (!imported.module)
    return {-1};
  // These operators keep the elements in order.
  auto results = evaluate(imported, {counting(imported.info.inputs[0].shape)});
  EXPECT_EQ(results[0].values, counting(imported.info.inputs[0].shape).values);
  return imported.info.outputs[0].shape;
}

Model reshape(const Ints &from, const Ints &to, int64_t opset = 13) {
  Model model(opset);
  model.input("x", from).output("y");
  model.ints("shape", {static_cast<int64_t>(to.size())}, to);
  model.node("Reshape", {"x", "shape"}, {"y"});
  return model;
}

TEST(Reshape, FollowsTheShape) {
  for (int64_t opset : {7, 13, 14, 19, 21, 23}) {
    EXPECT_EQ(shapeOf(reshape({2, 6}, {3, 4}, opset)), (Ints{3, 4}));
    EXPECT_EQ(shapeOf(reshape({2, 6}, {0, -1, 3}, opset)), (Ints{2, 2, 3}));
    EXPECT_EQ(shapeOf(reshape({1, 1}, {}, opset)), (Ints{}));
    EXPECT_EQ(shapeOf(reshape({2, 6}, {-1}, opset)), (Ints{12}));
  }
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  const std::string sentence = "E0206 node 0 (Reshape): Reshape: input 'shape' must have as many "
                               "elements as 'data', with at most one -1; found ";
  EXPECT_EQ(import(reshape({2, 6}, {5, 2})).messages(),
            sentence + "[5 2] for [2 6], 10 elements for 12");
  EXPECT_EQ(import(reshape({2, 6}, {-1, -1})).messages(), sentence + "[-1 -1] for [2 6]");
  EXPECT_EQ(import(reshape({2, 6}, {-1, 5})).messages(),
            sentence + "[-1 5] for [2 6], 12 elements in parts of 5");
  EXPECT_EQ(import(reshape({2, 6}, {-2, -6})).messages(), sentence + "[-2 -6] for [2 6]");
  EXPECT_EQ(import(reshape({2, 6}, {2, 6, 0})).messages(),
            sentence + "[2 6 0] for [2 6], but there is no axis 2 for a 0 to copy");
  Ints overflow = {int64_t{1} << 62, int64_t{1} << 62, -1};
  EXPECT_EQ(import(reshape({2, 6}, overflow)).messages(),
            sentence + "[4611686018427387904 4611686018427387904 -1] for [2 6]");
  Model zero = reshape({2, 6}, {0, -1}, 14);
  Node(zero.graph().mutable_node(0)).attribute("allowzero", int64_t{1});
  EXPECT_EQ(import(zero).messages(), sentence + "[0 -1] for [2 6]");
}

TEST(Reshape, NeedsAKnownShape) {
  Model model;
  model.input("x", {2}).input("f", {1}).floats("w", {1}, {2}).ints("s", {1, 1}, {2});
  model.node("Reshape", {"x", "f"}, {"a"});
  model.node("Reshape", {"x", "w"}, {"b"});
  model.node("Reshape", {"x", "s"}, {"c"});
  model.output("a").output("b").output("c");
  EXPECT_EQ(import(model).messages(),
            "E0205 node 0 (Reshape): Reshape: input 'shape' must be int32 or int64; found float\n"
            "E0205 node 1 (Reshape): Reshape: input 'shape' must be int32 or int64; found float\n"
            "E0206 node 2 (Reshape): Reshape: input 'shape' must have rank 1; found [1 1]");
}

Ints flattened(const Ints &shape, std::optional<int64_t> axis, int64_t opset = 13) {
  Model model(opset);
  model.input("x", shape).output("y");
  Node node = model.node("Flatten", {"x"}, {"y"});
  if (axis)
    node.attribute("axis", *axis);
  return shapeOf(model);
}

TEST(Flatten, MakesAMatrix) {
  for (int64_t opset : {7, 9, 11, 23})
    EXPECT_EQ(flattened({2, 3, 4}, std::nullopt, opset), (Ints{2, 12}));
  EXPECT_EQ(flattened({2, 3, 4}, 0), (Ints{1, 24}));
  EXPECT_EQ(flattened({2, 3, 4}, 3), (Ints{24, 1}));
  EXPECT_EQ(flattened({2, 3, 4}, -1), (Ints{6, 4}));
  Model model;
  model.input("x", {2}).output("y");
  model.node("Flatten", {"x"}, {"y"}).attribute("axis", int64_t{2});
  EXPECT_EQ(import(model).messages(), "E0206 node 0 (Flatten): Flatten: attribute 'axis' must be "
                                      "in [-rank, rank] of input 'input'; found axis 2 for rank 1");
}

/// Squeeze or Unsqueeze with axes as attribute or input.
Model withAxes(const std::string &op, const Ints &shape, const std::optional<Ints> &axes,
               int64_t opset) {
  Model model(opset);
  model.input("x", shape).output("y");
  Names inputs = {"x"};
  if (axes && opset >= 13) {
    model.ints("axes", {static_cast<int64_t>(axes->size())}, *axes);
    inputs.push_back("axes");
  }
  Node node = model.node(op, inputs, {"y"});
  if (axes && opset < 13)
    node.attribute("axes", *axes);
  return model;
}

TEST(Squeeze, RemovesAxes) {
  for (int64_t opset : {7, 11, 13, 21, 23}) {
    EXPECT_EQ(shapeOf(withAxes("Squeeze", {1, 3, 1, 2}, std::nullopt, opset)), (Ints{3, 2}));
    EXPECT_EQ(shapeOf(withAxes("Squeeze", {1, 3, 1, 2}, Ints{2}, opset)), (Ints{1, 3, 2}));
    EXPECT_EQ(shapeOf(withAxes("Squeeze", {1, 3, 1, 2}, Ints{-2, 0}, opset)), (Ints{3, 2}));
    EXPECT_EQ(shapeOf(withAxes("Squeeze", {3, 2}, std::nullopt, opset)), (Ints{3, 2}));
  }
  EXPECT_EQ(import(withAxes("Squeeze", {1, 3}, Ints{1}, 13)).messages(),
            "E0206 node 0 (Squeeze): Squeeze: the axes of 'data' in 'axes' must have extent 1; "
            "found axis 1 of [1 3]");
  EXPECT_EQ(import(withAxes("Squeeze", {1, 3}, Ints{0, -2}, 11)).messages(),
            "E0206 node 0 (Squeeze): Squeeze: 'axes' must be distinct axes of 'data'; found axis "
            "-2 twice");
}

TEST(Unsqueeze, AddsAxes) {
  for (int64_t opset : {7, 11, 13, 21, 23}) {
    EXPECT_EQ(shapeOf(withAxes("Unsqueeze", {3, 2}, Ints{0}, opset)), (Ints{1, 3, 2}));
    EXPECT_EQ(shapeOf(withAxes("Unsqueeze", {3, 2}, Ints{3, 0}, opset)), (Ints{1, 3, 2, 1}));
    EXPECT_EQ(shapeOf(withAxes("Unsqueeze", {3, 2}, Ints{-1}, opset)), (Ints{3, 2, 1}));
  }
  EXPECT_EQ(import(withAxes("Unsqueeze", {3}, Ints{2}, 13)).messages(),
            "E0206 node 0 (Unsqueeze): Unsqueeze: 'axes' must be distinct axes of the result; "
            "found axis 2 for rank 2");
  EXPECT_EQ(import(withAxes("Unsqueeze", {3}, std::nullopt, 11)).messages(),
            "E0203 node 0 (Unsqueeze): Unsqueeze: attribute 'axes' must be a list of ints "
            "(required); found none");
  EXPECT_EQ(import(withAxes("Unsqueeze", {3}, std::nullopt, 13)).messages(),
            "E0204 node 0 (Unsqueeze): Unsqueeze has 1 inputs; expected 2");
}

TEST(Identity, IsNothing) {
  Model model;
  model.input("x", {2}).output("y");
  model.node("Identity", {"x"}, {"a"});
  model.node("Dropout", {"a"}, {"y", ""});
  EXPECT_EQ(shapeOf(model), (Ints{2}));
  EXPECT_THAT(import(model).text(), testing::HasSubstr("return %arg0"));
}

TEST(Dropout, IsForInference) {
  for (int64_t opset : {7, 10}) {
    Model model(opset);
    model.input("x", {2}).output("y");
    model.node("Dropout", {"x"}, {"y", "m"}).attribute("ratio", 0.1F);
    EXPECT_EQ(shapeOf(model), (Ints{2})) << "a name that nothing reads";
    model.output("m");
    const Imported imported = import(model);
    ASSERT_EQ(imported.messages(), "");
    EXPECT_EQ(evaluate(imported, {{{2}, {3, 4}}})[1].values, (std::vector<double>{1, 1}))
        << "nothing is dropped";
  }
  Model large(13);
  large.input("x", {32768, 32768}).output("m");
  large.node("Dropout", {"x"}, {"", "m"});
  EXPECT_EQ(import(large).messages(), "E0205 node 0 (Dropout): Dropout: the mask [32768 32768] has "
                                      "more than 16777216 elements");
}

Model tile(const Ints &shape, const Ints &repeats) {
  Model model(13);
  model.input("x", shape).output("y");
  model.ints("r", {static_cast<int64_t>(repeats.size())}, repeats);
  model.node("Tile", {"x", "r"}, {"y"});
  return model;
}

TEST(Tile, RepeatsEveryAxis) {
  EXPECT_EQ(evaluateModel(tile({2, 1}, {2, 3}), {counting({2, 1})}).values,
            (std::vector<double>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
}

TEST(Tile, OfAConstantIsKnown) {
  Model model(13);
  model.input("x", {4}).ints("n", {2}, {1, 2}).ints("r", {1}, {2}).output("y");
  model.node("Tile", {"n", "r"}, {"t"});
  model.node("Cast", {"t"}, {"f"}).attribute("to", int64_t{1});
  model.node("Add", {"x", "f"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {counting({4})}).values, (std::vector<double>{1, 3, 3, 5}));
}

TEST(Tile, RefusesOtherRepeats) {
  const std::string whose = "node 0 (Tile): Tile: ";
  EXPECT_EQ(import(tile({2, 1}, {2})).messages(),
            "E0206 " + whose +
                "input 'repeats' must have one element of at least 0 per axis of 'input'; found "
                "[2] for [2 1] and [1]");
  EXPECT_EQ(import(tile({2}, {-1})).messages(),
            "E0206 " + whose +
                "input 'repeats' must have one element of at least 0 per axis of 'input'; found "
                "[-1] for [2] and [1]");
  EXPECT_EQ(import(tile({2}, {0})).messages(),
            "E0205 " + whose + "the result must have 1 to 16777216 elements; found [2] times [0]");
  EXPECT_EQ(
      import(tile({2}, {INT64_MAX})).messages(),
      "E0205 " + whose +
          "the result must have 1 to 16777216 elements; found [2] times [9223372036854775807]");
}

} // namespace
} // namespace sluice::frontend::test
