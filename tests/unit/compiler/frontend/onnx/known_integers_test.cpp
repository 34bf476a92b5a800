// Integers that are known at import are computed there, in their type. What NumPy gives.
#include <numeric>

#include <gmock/gmock.h>
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
            "E0205 input 'X' must be float, float16, bfloat16 or double; found int64");
}

TEST(KnownIntegers, Expanded) {
  const reference::Tensor y =
      result(OneNodeModel("Expand").ints({2, 1}, {7, -2}).ints({3}, {2, 1, 3}));
  EXPECT_EQ(y.shape, (Ints{2, 2, 3}));
  EXPECT_EQ(y.values, (Doubles{7, 7, 7, -2, -2, -2, 7, 7, 7, -2, -2, -2}));
  EXPECT_EQ(
      import(OneNodeModel("Expand").ints({1}, {1}).ints({2}, {1 << 20, 1 << 20}).model).messages(),
      "E0206 node 0 (Expand): Expand: the result has more than 16777216 elements");
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
      "E0206 input 'updates' must have the type of 'data'; found int64 for float");
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

TEST(KnownIntegers, Places) {
  const Ints x = {3, -2, 7, 7, 5, 5, -9, 0};
  const auto places = [&](const char *op, int64_t axis, int64_t last) {
    return result(OneNodeModel(op)
                      .ints({2, 4}, x, Proto::INT32)
                      .with("axis", axis)
                      .with("keepdims", int64_t{0})
                      .with("select_last_index", last));
  };
  EXPECT_EQ(places("ArgMax", 1, 0).values, (Doubles{2, 0}));
  EXPECT_EQ(places("ArgMax", -1, 1).values, (Doubles{3, 1}));
  EXPECT_EQ(places("ArgMin", 0, 0).values, (Doubles{0, 0, 1, 1}));
  EXPECT_EQ(places("ArgMin", 0, 0).shape, (Ints{4}));
  EXPECT_EQ(result(OneNodeModel("ArgMax", 11).floats({2, 2}, {1, NAN, 4, 4})).shape, (Ints{1, 2}));
  EXPECT_EQ(values(OneNodeModel("ArgMax", 11).floats({2, 2}, {1, NAN, 4, 4})), (Doubles{1, 0}));
  EXPECT_EQ(
      import(OneNodeModel("ArgMin").ints({2, 0}, {}).with("axis", int64_t{1}).model).messages(),
      "E0206 node 0 (ArgMin): ArgMin: the index of the minimum or maximum of no elements is "
      "undefined");
}

TEST(KnownIntegers, PlacesReadAlike) {
  // An index that is known takes a part of a shape.
  Model model(13);
  model.input("x", {2, 3}).output("y").ints("scores", {3}, {4, 9, 1}).ints("zero", {1}, {0});
  model.node("ArgMax", {"scores"}, {"place"});
  model.node("Gather", {"x", "place"}, {"y"}).attribute("axis", int64_t{1});
  EXPECT_EQ(evaluateModel(model, {counting({2, 3})}).values, (Doubles{1, 4}));
}

TEST(KnownIntegers, Ordered) {
  const Ints x = {3, -2, 7, 7, 5, 5, -9, 0};
  const auto top = [&](int output, int64_t largest) {
    OneNodeModel one("TopK");
    one.ints({2, 4}, x).ints({1}, {2}).with("largest", largest);
    onnx::NodeProto &node = *one.model.graph().mutable_node(0);
    node.clear_output();
    node.add_output(output == 0 ? "known" : "other");
    node.add_output(output == 1 ? "known" : "other");
    one.model.input("x", {});
    one.model.node("Cast", {"known"}, {"number"}).attribute("to", int64_t{Proto::FLOAT});
    one.model.node("Add", {"number", "x"}, {"y"});
    return evaluateModel(one.model, {reference::Tensor({}, {0})}).values;
  };
  EXPECT_EQ(top(0, 1), (Doubles{7, 7, 5, 5}));
  EXPECT_EQ(top(1, 1), (Doubles{2, 3, 0, 1}));
  EXPECT_EQ(top(0, 0), (Doubles{-2, 3, -9, 0}));
  EXPECT_EQ(top(1, 0), (Doubles{1, 0, 2, 3}));
  const reference::Tensor down = result(
      OneNodeModel("TopK").ints({2, 4}, x, Proto::INT8).ints({}, {1}).with("axis", int64_t{0}));
  EXPECT_EQ(down.shape, (Ints{1, 4}));
  EXPECT_EQ(down.values, (Doubles{5, 5, 7, 7}));
  // More places than bf16 has integers, which are counted where nothing is known.
  Ints many(1000);
  std::iota(many.begin(), many.end(), -500);
  EXPECT_EQ(values(OneNodeModel("TopK").ints({1000}, many).ints({1}, {2})), (Doubles{499, 498}));
}

TEST(KnownIntegers, Multiplied) {
  const Ints a = {1, 2, 3, -4, 5, 6}, b = {7, -8, 9, 10, 11, 12};
  EXPECT_EQ(values(OneNodeModel("MatMul").ints({2, 3}, a).ints({3, 2}, b)),
            (Doubles{58, 48, 83, 154}));
  EXPECT_EQ(values(OneNodeModel("MatMul")
                       .ints({2, 3}, a, Proto::INT8)
                       .ints({3, 2}, {70, -80, 90, 100, 110, 120}, Proto::INT8)),
            (Doubles{68, -32, 62, 4}));
  Ints matrices(12);
  std::iota(matrices.begin(), matrices.end(), 0);
  const reference::Tensor both =
      result(OneNodeModel("MatMul").ints({2, 3}, a).ints({2, 3, 2}, matrices));
  EXPECT_EQ(both.shape, (Ints{2, 2, 2}));
  EXPECT_EQ(both.values, (Doubles{16, 22, 34, 41, 52, 58, 76, 83}));
  const reference::Tensor row =
      result(OneNodeModel("MatMul").ints({3}, {1, 2, 3}).ints({2, 3, 2}, matrices));
  EXPECT_EQ(row.shape, (Ints{2, 2}));
  EXPECT_EQ(row.values, (Doubles{16, 22, 52, 58}));
  const reference::Tensor column =
      result(OneNodeModel("MatMul").ints({2, 3, 2}, matrices).ints({2}, {1, -1}));
  EXPECT_EQ(column.shape, (Ints{2, 3}));
  EXPECT_EQ(column.values, Doubles(6, -1));
  EXPECT_EQ(OneNodeModel("MatMul", 8).ints({1}, {1}).ints({1}, {1}).problem(),
            "E0205 input 'A' must be float, float16, bfloat16 or double; found int64");
  EXPECT_EQ(import(OneNodeModel("MatMul")
                       .ints({1 << 15, 1}, Ints(1 << 15))
                       .ints({1, 1 << 15}, Ints(1 << 15))
                       .model)
                .messages(),
            "E0205 node 0 (MatMul): MatMul: the product of the integers [32768 1] and [1 32768] "
            "has more than 268435456 terms");
}

TEST(KnownIntegers, MultipliedAndAdded) {
  const auto over = [](float alpha, float beta) {
    return OneNodeModel("Gemm")
        .ints({3, 2}, {1, -4, 2, 5, 3, 6})
        .ints({2, 3}, {7, 9, 11, -8, 10, 12})
        .ints({2}, {1, 2})
        .with("transA", int64_t{1})
        .with("transB", int64_t{1})
        .with("alpha", alpha)
        .with("beta", beta);
  };
  EXPECT_EQ(values(over(2, -3)), (Doubles{113, 90, 163, 302}));
  EXPECT_EQ(over(0.5F, 1).problem(), "E0205 attributes 'alpha' and 'beta' must be whole numbers "
                                     "below 2^31 for integers; found 'alpha' 0.5 and 'beta' 1");
}

TEST(KnownIntegers, Averaged) {
  const auto mean = [](const Ints &axes, int type) {
    return values(OneNodeModel("ReduceMean")
                      .ints({2, 4}, {3, -2, 7, 7, 5, 5, -9, 0}, type)
                      .ints({static_cast<int64_t>(axes.size())}, axes));
  };
  EXPECT_EQ(mean({1}, Proto::INT64), (Doubles{3, 0}));
  EXPECT_EQ(mean({0}, Proto::INT8), (Doubles{4, 1, -1, 3}));
  // The sum is no int8.
  EXPECT_EQ(values(OneNodeModel("ReduceMean").ints({2}, {100, 101}, Proto::INT8)), (Doubles{100}));
  EXPECT_EQ(import(OneNodeModel("ReduceMean").ints({0}, {}).model).messages(),
            "E0206 node 0 (ReduceMean): ReduceMean: the mean of no elements is undefined");
}

TEST(KnownIntegers, AreNotDividedAtRunTime) {
  for (const char *op : {"ReduceMean", "Gemm", "Mod"}) {
    Model model(18);
    model.input("x", {1, 4}).output("y").ints("one", {1}, {1}).ints("four", {4, 1}, {1, 1, 1, 1});
    model.node("Cast", {"x"}, {"n"}).attribute("to", int64_t{Proto::INT64});
    const std::string_view name = op;
    model.node(op,
               name == "ReduceMean" ? Names{"n"}
               : name == "Gemm"     ? Names{"n", "four"}
                                    : Names{"n", "one"},
               {"y"});
    EXPECT_THAT(
        import(model).messages(),
        testing::MatchesRegex(
            "E0205 node 1 .*: integers must be known at compile time; found int64 at run time"));
  }
}

TEST(KnownIntegers, OneHot) {
  const auto hot = [](int64_t axis) {
    return result(OneNodeModel("OneHot")
                      .ints({2, 2}, {1, -1, 0, 7})
                      .ints({}, {3})
                      .ints({2}, {-5, 1001})
                      .with("axis", axis));
  };
  EXPECT_EQ(hot(-1).values, (Doubles{-5, 1001, -5, -5, -5, 1001, 1001, -5, -5, -5, -5, -5}));
  EXPECT_EQ(hot(1).values, (Doubles{-5, -5, 1001, -5, -5, 1001, 1001, -5, -5, -5, -5, -5}));
  EXPECT_EQ(hot(1).shape, (Ints{2, 3, 2}));
}

TEST(KnownIntegers, TimesTheirSlope) {
  EXPECT_EQ(values(OneNodeModel("PRelu").ints({2, 3}, {-3, 4, 0, -1, 7, -2}).ints({3}, {5, 6, -7})),
            (Doubles{-15, 4, 0, -5, 7, 14}));
  EXPECT_EQ(
      values(
          OneNodeModel("PRelu", 9).ints({2}, {-60, 100}, Proto::INT8).ints({1}, {3}, Proto::INT8)),
      (Doubles{76, 100}));
  EXPECT_EQ(OneNodeModel("PRelu", 7).ints({1}, {1}).ints({1}, {1}).problem(),
            "E0205 input 'X' must be float, float16, bfloat16 or double; found int64");
}

TEST(KnownIntegers, SummedByAnEquation) {
  const auto sum = [](const char *equation, const std::vector<Ints> &shapes) {
    OneNodeModel one("Einsum");
    one.with("equation", equation);
    for (const Ints &shape : shapes) {
      int64_t count = 1;
      for (const int64_t extent : shape)
        count *= extent;
      Ints elements(count);
      std::iota(elements.begin(), elements.end(), -2);
      one.ints(shape, elements);
    }
    return result(one);
  };
  EXPECT_EQ(sum("ij,jk->ki", {{2, 3}, {3, 2}}).values, (Doubles{4, 4, 1, 10}));
  EXPECT_EQ(sum("ii->i", {{3, 3}}).values, (Doubles{-2, 2, 6}));
  EXPECT_EQ(sum("ii", {{3, 3}}).values, (Doubles{6}));
  EXPECT_EQ(sum("i,j->ij", {{2}, {3}}).shape, (Ints{2, 3}));
  EXPECT_EQ(sum("i,j->ij", {{2}, {3}}).values, (Doubles{4, 2, 0, 2, 1, 0}));
  EXPECT_EQ(sum("...i,i,i->...", {{2, 2, 2}, {2}, {2}}).values, (Doubles{-9, 1, 11, 21}));
  EXPECT_EQ(values(OneNodeModel("Einsum")
                       .ints({2}, {100, 27}, Proto::INT8)
                       .ints({2}, {1, 2}, Proto::INT8)
                       .with("equation", "i,i")),
            (Doubles{-102}));
  EXPECT_EQ(import(OneNodeModel("Einsum")
                       .ints({1 << 15}, Ints(1 << 15))
                       .ints({1 << 15}, Ints(1 << 15))
                       .with("equation", "i,j")
                       .model)
                .messages(),
            "E0205 node 0 (Einsum): Einsum: the product of the integers [32768] and [32768] has "
            "more than 16777216 terms");
}

TEST(KnownIntegers, Resized) {
  const auto resized = [](int64_t opset, const char *mode) {
    OneNodeModel one("Resize", opset);
    one.ints({2, 2}, {3, -1001, 7, 5});
    if (opset > 10)
      one.none();
    return one.floats({2}, {2, 1.5}).with("mode", mode);
  };
  EXPECT_EQ(values(resized(10, "nearest")), (Doubles{3, 3, -1001, 3, 3, -1001, 7, 7, 5, 7, 7, 5}));
  EXPECT_EQ(values(resized(18, "nearest").with("coordinate_transformation_mode", "asymmetric")),
            (Doubles{3, -1001, -1001, 3, -1001, -1001, 7, 5, 5, 7, 5, 5}));
  EXPECT_EQ(resized(18, "linear").problem(),
            "E0205 integers and bools must be resized with mode 'nearest', and without "
            "'tf_crop_and_resize'; found int64 with 'linear' and 'half_pixel'");
}

TEST(KnownIntegers, Rearranged) {
  const reference::Tensor y = result(OneNodeModel("DepthToSpace")
                                         .ints({1, 8, 1, 1}, {3, -2, 7, 7, 5, 5, -9, 0})
                                         .with("blocksize", int64_t{2}));
  EXPECT_EQ(y.shape, (Ints{1, 2, 2, 2}));
  EXPECT_EQ(y.values, (Doubles{3, 7, 5, -9, -2, 7, 5, 0}));
}

} // namespace
} // namespace sluice::frontend::test
