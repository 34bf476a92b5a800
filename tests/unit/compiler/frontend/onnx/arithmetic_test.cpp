#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontend/onnx/emitter.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Doubles = std::vector<double>;

TEST(Arithmetic, OfTwoRunTimeTensors) {
  const reference::Tensor a({2}, {6, -3}), b({2}, {2, 4});
  for (auto [op, expected] : {std::pair{"Add", Doubles{8, 1}},
                              {"Sub", Doubles{4, -7}},
                              {"Mul", Doubles{12, -12}},
                              {"Div", Doubles{3, -0.75}}})
    for (int64_t opset : {7, 13, 14, 23}) {
      Model model(opset);
      model.input("a", {2}).input("b", {2}).output("c");
      model.node(op, {"a", "b"}, {"c"});
      EXPECT_EQ(evaluateModel(model, {a, b}).values, expected) << op;
    }
}

TEST(Arithmetic, BroadcastsBothWays) {
  Model model;
  model.input("a", {2, 1}).input("b", {1, 3}).output("c", {2, 3});
  model.node("Add", {"a", "b"}, {"c"});
  EXPECT_EQ(evaluateModel(model, {{{2, 1}, {10, 20}}, counting({1, 3})}).values,
            (Doubles{10, 11, 12, 20, 21, 22}));
  std::string text = import(model).text();
  EXPECT_THAT(text, HasSubstr("sluice.broadcast %arg0 : (tensor<2x1xf32>) -> tensor<2x3xf32>"));
  EXPECT_THAT(text, HasSubstr("sluice.broadcast %arg1 : (tensor<1x3xf32>) -> tensor<2x3xf32>"));
}

TEST(Arithmetic, UnsqueezesTheShorterShape) {
  Model model;
  model.input("a", {3}).floats("b", {2, 1, 3}, {0, 1, 2, 3, 4, 5}).output("c", {2, 1, 3});
  model.node("Sub", {"a", "b"}, {"c"});
  EXPECT_EQ(evaluateModel(model, {{{3}, {10, 20, 30}}}).values, (Doubles{10, 19, 28, 7, 16, 25}));
  EXPECT_THAT(import(model).text(),
              HasSubstr("sluice.unsqueeze %arg0 axes [0, 1] : (tensor<3xf32>) -> "
                        "tensor<1x1x3xf32>"));
}

TEST(Arithmetic, PutsScalarsIntoTheBody) {
  Model model;
  model.input("a", {3}).floats("s", {1, 1}, {2}).output("c", {1, 3});
  model.node("Div", {"a", "s"}, {"c"});
  EXPECT_EQ(evaluateModel(model, {counting({3})}).values, (Doubles{0, 0.5, 1}));
  std::string text = import(model).text();
  EXPECT_THAT(text, HasSubstr("arith.constant 2.000000e+00"));
  EXPECT_THAT(text, Not(HasSubstr("sluice.constant")));
}

TEST(Arithmetic, PassesARepeatedOperandOnce) {
  Model model;
  model.input("a", {3}).output("c");
  model.node("Mul", {"a", "a"}, {"c"});
  EXPECT_EQ(evaluateModel(model, {counting({3})}).values, (Doubles{0, 1, 4}));
  EXPECT_THAT(import(model).text(), HasSubstr("sluice.map (%arg1 = %arg0) :"));
}

TEST(Arithmetic, OfKnownTensorsIsDoneAtImport) {
  Model model;
  model.input("x", {2}).floats("a", {2}, {3, 5}).floats("b", {}, {2}).output("y");
  model.node("Mul", {"a", "b"}, {"p"});
  model.node("Neg", {"p"}, {"q"});
  model.node("Add", {"x", "q"}, {"y"});
  EXPECT_THAT(import(model).text(),
              HasSubstr("sluice.constant dense<[-6.000000e+00, -1.000000e+01]>"));
}

TEST(Arithmetic, OfIntegersFeedsShapes) {
  Model model;
  model.input("x", {2, 6}).output("y", {3, 4}).ints("one", {1}, {1}).ints("two", {1}, {2});
  model.node("Add", {"two", "one"}, {"three"});
  model.node("Mul", {"two", "two"}, {"four"});
  model.node("Concat", {"three", "four"}, {"shape"}).attribute("axis", int64_t{0});
  model.node("Reshape", {"x", "shape"}, {"y"});
  EXPECT_EQ(import(model).messages(), "");
}

TEST(Arithmetic, RefusesWhatDoesNotFit) {
  Model model;
  model.input("a", {2}).input("b", {3}).input("h", {2}, onnx::TensorProto::FLOAT16);
  model.ints("i", {2}, {1, 2}).ints("z", {}, {0});
  for (auto [name, inputs] :
       {std::pair{"p", Names{"a", "b"}}, {"q", Names{"a", "h"}}, {"r", Names{"a", "i"}}}) {
    model.node("Add", inputs, {name});
    model.output(name);
  }
  model.node("Div", {"i", "z"}, {"s"});
  model.output("s");
  EXPECT_EQ(
      import(model).messages(),
      "E0206 node 0 (Add): Add: the input shapes must broadcast; found [2] and [3]\n"
      "E0206 node 1 (Add): Add: all inputs must have the same element type; found float, float16\n"
      "E0206 node 2 (Add): Add: all inputs must have the same element type; found float, int64\n"
      "E0206 node 3 (Div): Div: integer division by 0");
}

/// What an operator's entry should have required.
TEST(Emitter, RefusesOperandsThatDoNotBroadcast) {
  mlir::MLIRContext context;
  mlir::OpBuilder builder(&context);
  const auto known = [](const Ints &shape, const Floats &values) {
    return Tensor::ofKnown(HostTensor::ofFloats(shape, values));
  };
  try {
    Emitter(builder).pointwise({known({2}, {1, 2}), known({3}, {1, 2, 3})},
                               [](const Scalars &, mlir::ValueRange x) { return x[0]; });
    FAIL();
  } catch (const NodeError &error) {
    EXPECT_EQ(error.code.text, "E0206");
    EXPECT_EQ(error.message, "the shapes of the operands do not broadcast");
  }
}

TEST(Arithmetic, RefusesResultsThatAreTooLarge) {
  Model model;
  model.input("a", {65536, 1}).input("b", {1, 65536}).output("c");
  model.node("Add", {"a", "b"}, {"c"});
  EXPECT_EQ(import(model).messages(),
            "E0206 node 0 (Add): Add: the result has more than 2147483647 elements");
}

TEST(Pow, SaysHowExactAComputedExponentIs) {
  const auto notes = [](const char *exponent) {
    Model model;
    model.input("x", {4}).input("e", {4}).floats("two", {}, {2}).output("y");
    model.node("Pow", {"x", exponent}, {"p"});
    model.node("Add", {"p", "e"}, {"y"});
    const Imported imported = import(model);
    EXPECT_EQ(imported.messages(), "");
    return imported.info.notes;
  };
  EXPECT_THAT(notes("two"), testing::IsEmpty());
  EXPECT_THAT(notes("e"), testing::ElementsAre("a power x^y as exp(y log |x|) has an error up to "
                                               "|y log x| / 256 of itself: node 0 (Pow)"));
}

} // namespace
} // namespace sluice::frontend::test
