#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using Doubles = std::vector<double>;

/// x + c, where `define` makes c.
template <typename Define> Doubles plusConstant(int64_t opset, Define define) {
  Model model(opset);
  model.input("x", {2}).output("y");
  define(model);
  model.node("Add", {"x", "c"}, {"y"});
  return evaluateModel(model, {{{2}, {0, 0}}}).values;
}

TEST(Constant, InEveryForm) {
  for (int64_t opset : {7, 9, 11, 12, 13, 23})
    EXPECT_EQ(plusConstant(opset,
                           [](Model &model) {
                             Node node = model.node("Constant", {}, {"c"});
                             onnx::AttributeProto &value = node.attribute("value");
                             value.set_type(onnx::AttributeProto::TENSOR);
                             value.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
                             value.mutable_t()->add_dims(2);
                             value.mutable_t()->add_float_data(3);
                             value.mutable_t()->add_float_data(4);
                           }),
              (Doubles{3, 4}));
  for (int64_t opset : {11, 12, 13, 23})
    EXPECT_EQ(plusConstant(opset,
                           [](Model &model) {
                             Node node = model.node("Constant", {}, {"c"});
                             onnx::AttributeProto &value = node.attribute("sparse_value");
                             value.set_type(onnx::AttributeProto::SPARSE_TENSOR);
                             auto &sparse = *value.mutable_sparse_tensor();
                             setFiveAtOne(sparse, 2);
                           }),
              (Doubles{0, 5}));
  for (int64_t opset : {12, 13, 23}) {
    EXPECT_EQ(plusConstant(opset,
                           [](Model &model) {
                             model.node("Constant", {}, {"c"}).attribute("value_float", 2.5F);
                           }),
              (Doubles{2.5, 2.5}));
    EXPECT_EQ(
        plusConstant(opset,
                     [](Model &model) {
                       model.node("Constant", {}, {"c"}).attribute("value_floats", Floats{1, 2});
                     }),
        (Doubles{1, 2}));
    EXPECT_EQ(plusConstant(opset,
                           [](Model &model) {
                             model.node("Constant", {}, {"i"}).attribute("value_int", int64_t{7});
                             model.node("Cast", {"i"}, {"c"}).attribute("to", int64_t{1});
                           }),
              (Doubles{7, 7}));
    EXPECT_EQ(plusConstant(opset,
                           [](Model &model) {
                             model.node("Constant", {}, {"i"}).attribute("value_ints", Ints{7, 8});
                             model.node("Cast", {"i"}, {"c"}).attribute("to", int64_t{1});
                           }),
              (Doubles{7, 8}));
  }
}

TEST(Constant, RefusesOtherForms) {
  Model model;
  model.input("x", {1});
  model.node("Constant", {}, {"a"});
  model.node("Constant", {}, {"b"}).attribute("value_string", std::string("s"));
  model.node("Constant", {}, {"c"})
      .attribute("value_int", int64_t{1})
      .attribute("value_float", 1.0F);
  onnx::AttributeProto &value = model.node("Constant", {}, {"d"}).attribute("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  value.mutable_t()->add_dims(2);
  for (const char *name : {"a", "b", "c", "d"})
    model.output(name);
  EXPECT_EQ(
      import(model).messages(),
      "E0206 node 0 (Constant): Constant: exactly one attribute must be given; found 0\n"
      "E0203 node 1 (Constant): attribute 'value_string' of Constant is not supported in opset 13; "
      "known attributes: 'value', 'sparse_value', 'value_float', 'value_floats', 'value_int', "
      "'value_ints'\n"
      "E0206 node 2 (Constant): Constant: exactly one attribute must be given; found 2\n"
      "E0105 node 3 (Constant): attribute 'value' has shape [2], but no data");
}

/// Reshapes x [2 3 4] by shape arithmetic that `define` writes into 's'.
template <typename Define> Ints reshapedBy(Define define, int64_t opset = 15) {
  Model model(opset);
  model.input("x", {2, 3, 4}).output("y");
  define(model);
  model.node("Reshape", {"x", "s"}, {"y"});
  Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "");
  return imported.module ? imported.info.outputs[0].shape : Ints{};
}

TEST(ShapeArithmetic, FoldsTheChainsOfExporters) {
  EXPECT_EQ(reshapedBy([](Model &model) { // x.view(x.size(0), -1)
              model.ints("zero", {}, {0}).ints("minus", {1}, {-1});
              model.node("Shape", {"x"}, {"shape"});
              model.node("Gather", {"shape", "zero"}, {"n"}).attribute("axis", int64_t{0});
              model.ints("axes", {1}, {0});
              model.node("Unsqueeze", {"n", "axes"}, {"n1"});
              model.node("Concat", {"n1", "minus"}, {"s"}).attribute("axis", int64_t{0});
            }),
            (Ints{2, 12}));
  EXPECT_EQ(reshapedBy([](Model &model) { // the last two extents, swapped by indices
              model.node("Shape", {"x"}, {"tail"}).attribute("start", int64_t{-2});
              model.ints("swap", {3}, {1, -2, 0});
              model.ints("half", {3}, {1, 1, 2});
              model.node("Gather", {"tail", "swap"}, {"t"});
              model.node("Div", {"t", "half"}, {"d"});
              model.ints("more", {3}, {1, 1, 2});
              model.node("Mul", {"d", "more"}, {"m"});
              model.node("Sub", {"m", "half"}, {"s0"});
              model.node("Add", {"s0", "half"}, {"s1"});
              model.ints("fix", {3}, {0, 0, 0});
              model.node("Add", {"s1", "fix"}, {"s2"});
              model.ints("shape", {3}, {4, 3, 2});
              model.node("Slice", {"s2", "from", "to"}, {"head"});
              model.ints("from", {1}, {0}).ints("to", {1}, {2}).ints("last", {1}, {2});
              model.node("Concat", {"head", "last"}, {"s"}).attribute("axis", int64_t{0});
            }),
            (Ints{4, 3, 2}));
  EXPECT_EQ(reshapedBy([](Model &model) { // through float and back
              model.node("Shape", {"x"}, {"shape"}).attribute("end", int64_t{1});
              model.node("Cast", {"shape"}, {"f"}).attribute("to", int64_t{1});
              model.floats("two", {}, {2.9F});
              model.node("Mul", {"f", "two"}, {"g"});
              model.node("Cast", {"g"}, {"h"}).attribute("to", int64_t{7});
              model.ints("size", {1}, {1});
              onnx::AttributeProto &value =
                  model.node("ConstantOfShape", {"size"}, {"minus"}).attribute("value");
              value.set_type(onnx::AttributeProto::TENSOR);
              value.mutable_t()->set_data_type(onnx::TensorProto::INT64);
              value.mutable_t()->add_dims(1);
              value.mutable_t()->add_int64_data(-1);
              model.node("Sub", {"h", "size"}, {"four"});
              model.node("Concat", {"four", "minus"}, {"s"}).attribute("axis", int64_t{0});
            }),
            (Ints{4, 6}));
}

TEST(ShapeArithmetic, RefusesWhatItCannotKnow) {
  Model model;
  model.input("x", {2}).ints("i", {1}, {5}).ints("n", {1}, {-1}).floats("big", {}, {1e30F});
  model.node("Gather", {"x", "i"}, {"a"});
  model.node("Shape", {"x"}, {"s"});
  model.node("Gather", {"s", "i"}, {"b"});
  model.node("ConstantOfShape", {"n"}, {"c"});
  model.node("Cast", {"big"}, {"d"}).attribute("to", int64_t{7});
  model.node("Cast", {"big"}, {"e"}).attribute("to", int64_t{8});
  for (const char *name : {"a", "b", "c", "d", "e"})
    model.output(name);
  EXPECT_EQ(import(model).messages(),
            "E0206 node 0 (Gather): Gather: the indices must be in [-extent, extent-1] of 'axis'; "
            "found 5 for extent 2\n"
            "E0206 node 2 (Gather): Gather: the indices must be in [-extent, extent-1] of 'axis'; "
            "found 5 for extent 1\n"
            "E0206 node 3 (ConstantOfShape): ConstantOfShape: the shape must have no negative "
            "extent and at most 16777216 elements; found [-1]\n"
            "E0206 node 4 (Cast): Cast: 1e+30 is out of range for a cast to int64\n"
            "E0205 node 5 (Cast): Cast: attribute 'to' must be a float, integer or bool type; "
            "found 8 (string)");
}

TEST(ShapeArithmetic, MayNotReachTheAccelerator) {
  Model model;
  model.input("x", {2}).ints("none", {1}, {0}).output("y");
  model.node("ConstantOfShape", {"none"}, {"empty"});
  model.node("Relu", {"empty"}, {"y"});
  EXPECT_EQ(import(model).messages(), "E0205 node 1 (Relu): Relu: the operand [0] has no elements; "
                                      "the accelerator needs at least 1");
  Model integers(16);
  integers.input("x", {2}).ints("n", {2}, {3, 257}).output("y");
  integers.node("IsNaN", {"x"}, {"c"});
  integers.node("Where", {"c", "n", "n"}, {"y"});
  EXPECT_EQ(import(integers).messages(),
            "E0205 node 1 (Where): Where: element 257 of the int64 tensor [2] is not exact in "
            "bf16, the accelerator's format");
}

TEST(ConstantOfShape, HasOneValue) {
  Model model;
  model.input("x", {2}).ints("n", {1}, {2}).output("y");
  onnx::AttributeProto &value = model.node("ConstantOfShape", {"n"}, {"c"}).attribute("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  value.mutable_t()->add_dims(2);
  value.mutable_t()->add_float_data(1);
  value.mutable_t()->add_float_data(2);
  model.node("Add", {"x", "c"}, {"y"});
  EXPECT_EQ(import(model).messages(), "E0206 node 0 (ConstantOfShape): ConstantOfShape: attribute "
                                      "'value' must have one element; found [2]");
}

Model range(const Ints &values) {
  Model model(13);
  model.input("x", {1}).output("y");
  const Names names = {"start", "limit", "delta"};
  for (size_t i = 0; i < 3; ++i)
    model.ints(names[i], {}, {values[i]});
  model.node("Range", names, {"r"});
  model.node("Cast", {"r"}, {"f"}).attribute("to", int64_t{1});
  model.node("Add", {"x", "f"}, {"y"});
  return model;
}

TEST(Range, CountsToTheLimit) {
  const reference::Tensor zero({1}, {0});
  EXPECT_EQ(evaluateModel(range({1, 8, 3}), {zero}).values, (std::vector<double>{1, 4, 7}));
  EXPECT_EQ(evaluateModel(range({2, -1, -2}), {zero}).values, (std::vector<double>{2, 0}));
}

TEST(Range, RefusesWhatDoesNotEnd) {
  const std::string sentence = "E0206 node 0 (Range): Range: ";
  EXPECT_EQ(import(range({0, 1, 0})).messages(), sentence + "input 'delta' must not be 0; found 0");
  EXPECT_EQ(import(range({0, INT64_MAX, 1})).messages(),
            sentence +
                "the result must have at most 16777216 elements; found 9.223372036854776e+18");
  Model model = range({0, 3, 1});
  model.graph().mutable_initializer(1)->add_dims(2);
  model.graph().mutable_initializer(1)->add_int64_data(4);
  EXPECT_EQ(import(model).messages(),
            sentence + "the inputs must have one element each; found [] and [2] and []");
}

TEST(Size, IsKnown) {
  Model model(13);
  model.input("x", {2, 3}).output("y");
  model.node("Size", {"x"}, {"n"});
  model.node("Cast", {"n"}, {"f"}).attribute("to", int64_t{1});
  model.node("Mul", {"x", "f"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {counting({2, 3})}).values,
            (std::vector<double>{0, 6, 12, 18, 24, 30}));
}

TEST(CastLike, TakesTheTypeOfItsSecondInput) {
  Model model(15);
  model.input("x", {2}).ints("n", {2}, {3, 4}).output("y");
  model.node("CastLike", {"n", "x"}, {"f"});
  model.node("Add", {"x", "f"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {counting({2})}).values, (std::vector<double>{3, 5}));
  Model whole(15);
  whole.input("x", {2}).ints("n", {2}, {3, 4}).output("y");
  whole.node("CastLike", {"x", "n"}, {"y"});
  EXPECT_EQ(evaluateModel(whole, {{{2}, {-1.5, 2.5}}}).values, (std::vector<double>{-1, 2}));
}

} // namespace
} // namespace sluice::frontend::test
