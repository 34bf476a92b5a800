// Integers that are known at import are computed there, in their type. What NumPy gives.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using Proto = onnx::TensorProto;
using Doubles = std::vector<double>;

/// The result of a model whose inputs are all known, as float.
reference::Tensor result(OneNodeModel one) {
  Model &model = one.model;
  model.graph().mutable_node(0)->set_output(0, "known");
  model.input("x", {});
  model.node("Cast", {"known"}, {"number"}).attribute("to", int64_t{Proto::FLOAT});
  model.node("Add", {"number", "x"}, {"y"});
  return evaluateModel(model, {reference::Tensor({}, {0})});
}

Doubles values(const OneNodeModel &one) { return result(one).values; }

TEST(KnownIntegers, OfOneOperand) {
  const Ints x = {-128, -3, 0, 5};
  for (const int64_t opset : {7, 13}) {
    EXPECT_EQ(values(OneNodeModel("Abs", opset).ints({4}, x)), (Doubles{128, 3, 0, 5}));
    EXPECT_EQ(values(OneNodeModel("Abs", opset).ints({4}, x, Proto::INT8)),
              (Doubles{-128, 3, 0, 5}));
  }
  EXPECT_EQ(values(OneNodeModel("Abs").ints({2}, {INT64_MIN, -1})),
            (Doubles{static_cast<double>(INT64_MIN), 1}));
  EXPECT_EQ(values(OneNodeModel("Sign").ints({4}, x)), (Doubles{-1, -1, 0, 1}));
  EXPECT_EQ(values(OneNodeModel("Relu").ints({4}, x, Proto::INT32)), (Doubles{0, 0, 0, 5}));
}

TEST(KnownIntegers, RectifiedFromOpset14On) {
  EXPECT_EQ(OneNodeModel("Relu", 13).ints({1}, {1}).problem(),
            "E0205 input 'X' is float, float16, bfloat16 or double; found int64");
}

TEST(KnownIntegers, Expanded) {
  const reference::Tensor y =
      result(OneNodeModel("Expand").ints({2, 1}, {7, -2}).ints({3}, {2, 1, 3}));
  EXPECT_EQ(y.shape, (Ints{2, 2, 3}));
  EXPECT_EQ(y.values, (Doubles{7, 7, 7, -2, -2, -2, 7, 7, 7, -2, -2, -2}));
  EXPECT_EQ(
      import(OneNodeModel("Expand").ints({1}, {1}).ints({2}, {1 << 20, 1 << 20}).model).messages(),
      "E0206 node 0 (Expand): Expand: the result has more than 268435456 elements");
}

TEST(KnownIntegers, SummedOverPrefixes) {
  const auto sums = [](const Ints &x, int type, int64_t axis, int64_t exclusive, int64_t reverse) {
    return values(OneNodeModel("CumSum", 14)
                      .ints({2, 3}, x, type)
                      .ints({}, {axis})
                      .with("exclusive", exclusive)
                      .with("reverse", reverse));
  };
  const Ints x = {1, -2, 4, 100, 27, 8};
  EXPECT_EQ(sums(x, Proto::INT64, 1, 0, 0), (Doubles{1, -1, 3, 100, 127, 135}));
  EXPECT_EQ(sums(x, Proto::INT64, -1, 1, 0), (Doubles{0, 1, -1, 0, 100, 127}));
  EXPECT_EQ(sums(x, Proto::INT64, 1, 0, 1), (Doubles{3, 2, 4, 135, 35, 8}));
  EXPECT_EQ(sums(x, Proto::INT64, 1, 1, 1), (Doubles{2, 4, 0, 35, 8, 0}));
  EXPECT_EQ(sums(x, Proto::INT32, 0, 0, 0), (Doubles{1, -2, 4, 101, 25, 12}));
  EXPECT_EQ(sums(x, Proto::INT8, 1, 0, 0), (Doubles{1, -1, 3, 100, 127, -121}));
}

TEST(KnownIntegers, PutToPlaces) {
  const auto elements = [](const char *reduction) {
    return values(OneNodeModel("ScatterElements")
                      .ints({2, 3}, {1, 2, 3, 4, 5, 6})
                      .ints({2, 2}, {0, -1, 1, 1})
                      .ints({2, 2}, {7, 8, 9, 2})
                      .with("axis", int64_t{1})
                      .with("reduction", reduction));
  };
  EXPECT_EQ(elements("none"), (Doubles{7, 2, 8, 4, 2, 6}));
  EXPECT_EQ(elements("add"), (Doubles{8, 2, 11, 4, 16, 6}));
  EXPECT_EQ(elements("mul"), (Doubles{7, 2, 24, 4, 90, 6}));
  EXPECT_EQ(elements("max"), (Doubles{7, 2, 8, 4, 9, 6}));
  EXPECT_EQ(elements("min"), (Doubles{1, 2, 3, 4, 2, 6}));
  EXPECT_EQ(values(OneNodeModel("ScatterElements")
                       .ints({3, 2}, {1, 2, 3, 4, 5, 6}, Proto::INT8)
                       .ints({1, 2}, {2, 0})
                       .ints({1, 2}, {100, -100}, Proto::INT8)
                       .with("reduction", "add")),
            (Doubles{1, -98, 3, 4, 105, 6}));
  EXPECT_EQ(values(OneNodeModel("ScatterND")
                       .ints({3, 2}, {1, 2, 3, 4, 5, 6})
                       .ints({2, 1}, {-1, 0})
                       .ints({2, 2}, {7, 8, 9, 10})),
            (Doubles{9, 10, 3, 4, 7, 8}));
  EXPECT_EQ(values(OneNodeModel("ScatterND")
                       .ints({2, 2}, {1, 0, 0, 1}, Proto::BOOL)
                       .ints({1, 2}, {1, 0})
                       .ints({1}, {1}, Proto::BOOL)),
            (Doubles{1, 0, 1, 1}));
  EXPECT_EQ(
      OneNodeModel("ScatterND").input({2, 2}).ints({1, 1}, {0}).ints({1, 2}, {1, 2}).problem(),
      "E0206 input 'updates' has the type of 'data'; found int64 for float");
}

TEST(KnownIntegers, SummedUp) {
  const auto reduced = [](const char *op, int64_t opset, int type) {
    OneNodeModel one(op, opset);
    one.ints({2, 3}, {1, -2, 4, -10, 3, 0}, type).with("keepdims", int64_t{0});
    if (opset < 18)
      one.with("axes", Ints{1});
    else
      one.ints({1}, {1});
    return values(one);
  };
  for (const int64_t opset : {11, 13, 18}) {
    EXPECT_EQ(reduced("ReduceL1", opset, Proto::INT64), (Doubles{7, 13}));
    EXPECT_EQ(reduced("ReduceSumSquare", opset, Proto::INT32), (Doubles{21, 109}));
  }
}

} // namespace
} // namespace sluice::frontend::test
