// Comparisons, logic and Where; and the requirements of Pow, Gelu, Celu,
// Transpose, Expand and of a Cast of run-time tensors.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;

TEST(Where, ChoosesByAComparison) {
  Model model(16);
  model.input("a", {3}).input("b", {3}).output("y");
  model.node("GreaterOrEqual", {"a", "b"}, {"t"});
  model.node("Not", {"t"}, {"u"});
  model.node("Where", {"u", "a", "b"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {{{3}, {1, 2, 3}}, {{3}, {3, 2, 1}}}).values, (Doubles{1, 2, 1}));
}

TEST(Where, RefusesAConditionThatIsNotBool) {
  Model model(16);
  model.input("c", {3}).input("x", {3}).output("y");
  model.node("Where", {"c", "x", "x"}, {"y"});
  EXPECT_EQ(import(model).messages(),
            "E0206 node 0 (Where): Where: the first input must be bool; found float");
}

TEST(Where, RefusesResultsOfTwoTypes) {
  Model model(16);
  model.input("x", {3}).input("h", {3}, onnx::TensorProto::FLOAT16).output("y");
  model.node("IsNaN", {"x"}, {"c"});
  model.node("Where", {"c", "x", "h"}, {"y"});
  EXPECT_EQ(import(model).messages(), "E0206 node 1 (Where): Where: inputs 'X' and 'Y' must have "
                                      "the same element type; found float and float16");
}

TEST(Logic, TakesBools) {
  Model model(13);
  model.input("x", {3}).output("y");
  model.node("And", {"x", "x"}, {"b"});
  model.node("Cast", {"b"}, {"y"}).attribute("to", int64_t{1});
  EXPECT_EQ(import(model).messages(),
            "E0206 node 0 (And): And: the inputs must be bool; found float");
}

TEST(Comparisons, TakeNumbers) {
  Model model(13);
  model.input("x", {3}).output("y");
  model.node("IsNaN", {"x"}, {"b"});
  model.node("Less", {"b", "b"}, {"c"});
  model.node("Cast", {"c"}, {"y"}).attribute("to", int64_t{1});
  EXPECT_EQ(import(model).messages(), "E0205 node 1 (Less): Less: input 'A' must be float, "
                                      "float16, bfloat16, double or an integer type; found bool");
}

TEST(Comparisons, AreOutputsOfOnesAndZeros) {
  Model model(13);
  model.input("a", {3}).input("b", {3}).output("y", {3}, onnx::TensorProto::BOOL);
  model.node("Less", {"a", "b"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {counting({3}), reference::Tensor({3}, {1, 1, 1})}).values,
            (Doubles{1, 0, 0}));
}

TEST(Comparisons, BecomeNumbersByACast) {
  Model model(13);
  model.input("a", {3}).floats("one", {}, {1}).output("y");
  model.node("Less", {"a", "one"}, {"t"});
  model.node("Cast", {"t"}, {"y"}).attribute("to", int64_t{1});
  EXPECT_EQ(evaluateModel(model, {counting({3})}).values, (Doubles{1, 0, 0}));
}

TEST(Comparisons, OfIntegersFeedShapes) {
  // How PyTorch writes x.expand(-1, 4): where the shape is -1, it is 1.
  Model model(13);
  model.input("x", {3, 1}).output("y", {3, 4});
  model.ints("shape", {2}, {-1, 4}).ints("minus", {}, {-1}).ints("ones", {2}, {1, 1});
  model.node("Equal", {"shape", "minus"}, {"t"});
  model.node("Where", {"t", "ones", "shape"}, {"s"});
  model.node("Expand", {"x", "s"}, {"y"});
  const reference::Tensor y = evaluateModel(model, {counting({3, 1})});
  EXPECT_EQ(y.values, (Doubles{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST(Cast, OfARunTimeTensorIsToAFloatOrAnIndex) {
  for (const auto type : {onnx::TensorProto::INT64, onnx::TensorProto::INT32}) {
    Model model(13);
    model.input("a", {4}).output("y");
    model.node("Cast", {"a"}, {"y"}).attribute("to", int64_t{type});
    EXPECT_EQ(evaluateModel(model, {{{4}, {-2.5, -0.5, 1.75, 3}}}).values, (Doubles{-2, 0, 1, 3}));
  }
  const auto casted = [](const std::vector<int64_t> &types) {
    Model model(13);
    model.input("t0", {3});
    for (size_t i = 0; i < types.size(); ++i)
      model.node("Cast", {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)})
          .attribute("to", types[i]);
    model.output("t" + std::to_string(types.size()));
    return model;
  };
  using Proto = onnx::TensorProto;
  EXPECT_EQ(
      evaluateModel(casted({Proto::BOOL, Proto::BOOL, Proto::FLOAT}), {{{3}, {-0.5, 0, 3}}}).values,
      (Doubles{1, 0, 1}));
  EXPECT_EQ(
      evaluateModel(casted({Proto::UINT8, Proto::UINT8, Proto::FLOAT}), {{{3}, {0.5, 9.9, 3}}})
          .values,
      (Doubles{0, 9, 3}));
  const std::string sentence =
      "E0205 node 1 (Cast): Cast: casts at run time must be to a float type, int32, int64 or bool, "
      "or from floats to int8 or uint8; found ";
  EXPECT_EQ(import(casted({Proto::INT32, Proto::INT8})).messages(), sentence + "int32 to int8");
  EXPECT_EQ(import(casted({Proto::FLOAT, Proto::INT16})).messages(), sentence + "float to int16");
}

TEST(Cast, OfATestIsTheTest) {
  Model model(13);
  model.input("a", {3}).input("b", {3}).output("y");
  model.node("Less", {"a", "b"}, {"t"});
  model.node("Cast", {"t"}, {"y"}).attribute("to", int64_t{onnx::TensorProto::INT64});
  EXPECT_THAT(import(model).text(), testing::Not(testing::HasSubstr("floor")));
}

TEST(Max, OfOneTensorIsTheTensor) {
  Model model(13);
  model.input("a", {3}).output("y");
  model.node("Max", {"a"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {counting({3})}).values, counting({3}).values);
}

TEST(Pow, TakesAFewKnownExponents) {
  Model model(13);
  model.input("x", {2}).ints("e", {1}, {2}).output("y");
  model.node("Pow", {"x", "e"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {{{2}, {-3, 4}}}).values, (Doubles{9, 16}));
  Model two(13);
  two.input("x", {2}).floats("e", {2}, {2, 3}).output("y");
  two.node("Pow", {"x", "e"}, {"y"});
  EXPECT_EQ(evaluateModel(two, {{{2}, {-3, 4}}}).values, (Doubles{9, 64}));
}

TEST(Pow, TakesExponentsThatAreComputedOrMany) {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  Doubles x, y;
  for (const double base : {0.0, 1.0, -1.0, 2.0, -2.0, 0.25, -3.0, 1.5, inf, nan})
    for (const double exponent : {0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, -2.5, 300.0, inf, -inf, nan})
      x.push_back(base), y.push_back(exponent);
  const auto count = static_cast<int64_t>(x.size());
  Model computed(13);
  computed.input("x", {count}).input("e", {count}).output("y");
  computed.node("Pow", {"x", "e"}, {"y"});
  Model many(13);
  many.input("x", {count}).floats("e", {count}, Floats(y.begin(), y.end())).output("y");
  many.node("Pow", {"x", "e"}, {"y"});
  for (const Doubles &values : {evaluateModel(computed, {{{count}, x}, {{count}, y}}).values,
                                evaluateModel(many, {{{count}, x}}).values})
    for (int64_t i = 0; i < count; ++i) {
      const double expected = std::pow(x[i], y[i]);
      if (std::isfinite(expected))
        EXPECT_NEAR(values[i], expected, 1e-12 * std::abs(expected)) << x[i] << " ^ " << y[i];
      else
        EXPECT_TRUE(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected)))
            << x[i] << " ^ " << y[i] << " is " << values[i];
    }
}

TEST(Pow, TakesPowersApart) {
  for (const float exponent : {0.25F, -0.75F, 2.5F, 7.0F, -3.0F, 0.3F, 1000.0F}) {
    Model model(13);
    model.input("x", {3}).floats("e", {}, {exponent}).output("y");
    model.node("Pow", {"x", "e"}, {"y"});
    const Doubles values = evaluateModel(model, {{{3}, {1, 0.5, 1.5}}}).values;
    for (const auto &[value, x] : {std::pair(values[0], 1.0), {values[1], 0.5}})
      EXPECT_NEAR(value, std::pow(x, exponent), 0.01 * std::pow(x, exponent)) << exponent;
  }
}

TEST(Pow, OfIntegersIsKnown) {
  const auto over = [](const Ints &x, const Ints &y) {
    Model model(13);
    model.ints("x", {2}, x).ints("e", {2}, y).input("unused", {1}).output("y");
    model.node("Pow", {"x", "e"}, {"y"});
    return model;
  };
  EXPECT_EQ(evaluateModel(over({-3, 10}, {3, 2}), {{{1}, {0}}}).values, (Doubles{-27, 100}));
  EXPECT_EQ(import(over({10, 1}, {17, 0})).messages(),
            "E0205 node 0 (Pow): Pow: the result 1e+17 is not exact; integers must be below 2^53");
  Model runtime(13);
  runtime.input("x", {2}).ints("e", {1}, {2}).output("y");
  runtime.node("Cast", {"x"}, {"i"}).attribute("to", int64_t{onnx::TensorProto::INT32});
  runtime.node("Pow", {"i", "e"}, {"y"});
  EXPECT_EQ(import(runtime).messages(),
            "E0205 node 1 (Pow): Pow: input 'X' must be a floating-point type if an input is "
            "computed at run time; found int32");
}

TEST(Functions, RefuseAttributesWithoutMeaning) {
  Model gelu(20);
  gelu.input("x", {2}).output("y");
  gelu.node("Gelu", {"x"}, {"y"}).attribute("approximate", std::string("best"));
  EXPECT_THAT(import(gelu).messages(),
              HasSubstr("attribute 'approximate' must be 'none' or 'tanh'; found 'best'"));
  Model celu(12);
  celu.input("x", {2}).output("y");
  celu.node("Celu", {"x"}, {"y"}).attribute("alpha", 0.0F);
  EXPECT_THAT(import(celu).messages(), HasSubstr("attribute 'alpha' must not be 0; found 0"));
}

TEST(Transpose, NamesEveryAxisOnce) {
  for (const Ints &perm : {Ints{0, 0}, Ints{0}, Ints{0, 2}, Ints{-1, 0}}) {
    Model model(13);
    model.input("x", {2, 3}).output("y");
    model.node("Transpose", {"x"}, {"y"}).attribute("perm", perm);
    EXPECT_THAT(import(model).messages(),
                HasSubstr("E0206 node 0 (Transpose): Transpose: attribute 'perm' must name every "
                          "axis of 'data' once; found"));
  }
}

TEST(Expand, RefusesAShapeThatDoesNotBroadcast) {
  for (const Ints &shape : {Ints{2}, Ints{0, 3}, Ints{-1, 3}}) {
    Model model(13);
    model.input("x", {1, 3}).output("y");
    model.ints("s", {static_cast<int64_t>(shape.size())}, shape);
    model.node("Expand", {"x", "s"}, {"y"});
    EXPECT_THAT(import(model).messages(),
                HasSubstr("E0206 node 0 (Expand): Expand: 'shape' must have rank 1 and extents of "
                          "at least 1, and 'input' must broadcast with it; found"));
  }
}

Model trilu(const Ints &shape, const Ints &k, int64_t upper) {
  Model model(14);
  model.input("x", shape).ints("k", {static_cast<int64_t>(k.size())}, k).output("y");
  model.node("Trilu", {"x", "k"}, {"y"}).attribute("upper", upper);
  return model;
}

TEST(Trilu, KeepsOneSideOfADiagonal) {
  const reference::Tensor x = counting({2, 3});
  EXPECT_EQ(evaluateModel(trilu({2, 3}, {0}, 1), {x}).values, (Doubles{0, 1, 2, 0, 4, 5}));
  EXPECT_EQ(evaluateModel(trilu({2, 3}, {0}, 0), {x}).values, (Doubles{0, 0, 0, 3, 4, 0}));
  EXPECT_EQ(evaluateModel(trilu({2, 3}, {1}, 1), {x}).values, (Doubles{0, 1, 2, 0, 0, 5}));
  // Diagonals beyond the corners, as far as int64 goes.
  EXPECT_EQ(evaluateModel(trilu({2, 3}, {INT64_MAX}, 0), {x}).values, x.values);
  EXPECT_EQ(evaluateModel(trilu({2, 3}, {INT64_MIN}, 1), {x}).values, x.values);
}

TEST(Trilu, OfAConstantIsKnown) {
  Model model(14);
  model.input("x", {2}).output("y");
  model.ints("m", {2, 2}, {1, 2, 3, 4}).ints("axes", {1}, {1});
  model.node("Trilu", {"m"}, {"t"});
  model.node("Cast", {"t"}, {"f"}).attribute("to", int64_t{1});
  model.node("Add", {"x", "f"}, {"y"});
  EXPECT_EQ(evaluateModel(model, {counting({2})}).values, (Doubles{1, 3, 0, 5}));
}

TEST(Trilu, RefusesOtherShapes) {
  EXPECT_EQ(import(trilu({3}, {0}, 1)).messages(),
            "E0206 node 0 (Trilu): Trilu: input 'input' must have rank 2 or more; found [3]");
  EXPECT_EQ(import(trilu({3, 3}, {0, 1}, 1)).messages(),
            "E0206 node 0 (Trilu): Trilu: input 'k' must have one element; found shape [2]");
}

} // namespace
} // namespace sluice::frontend::test
