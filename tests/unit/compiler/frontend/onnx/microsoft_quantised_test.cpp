// Quantised operators of com.microsoft: what is refused, word for word, and what is known by hand.
#include <cmath>

#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using Doubles = std::vector<double>;
using onnx::TensorProto;

/// A node of com.microsoft.
class QuantisedLayer : public OneNodeModel {
public:
  explicit QuantisedLayer(const char *op) : OneNodeModel(op, 17) {
    auto *import = model.proto.add_opset_import();
    import->set_domain("com.microsoft");
    import->set_version(1);
    model.graph().mutable_node(0)->set_domain("com.microsoft");
  }
  /// A tensor of bytes that is an input of the model.
  QuantisedLayer &bytes(const Ints &shape, int type = TensorProto::UINT8) {
    input(shape);
    model.graph()
        .mutable_input(model.graph().input_size() - 1)
        ->mutable_type()
        ->mutable_tensor_type()
        ->set_elem_type(type);
    return *this;
  }
  QuantisedLayer &input(const Ints &shape) {
    return static_cast<QuantisedLayer &>(OneNodeModel::input(shape));
  }
  QuantisedLayer &ints(const Ints &shape, const Ints &values, int type = TensorProto::INT64) {
    return static_cast<QuantisedLayer &>(OneNodeModel::ints(shape, values, type));
  }
  QuantisedLayer &floats(const Ints &shape, const Floats &values) {
    return static_cast<QuantisedLayer &>(OneNodeModel::floats(shape, values));
  }
  QuantisedLayer &none() { return static_cast<QuantisedLayer &>(OneNodeModel::none()); }
  /// A scale and a zero point.
  QuantisedLayer &by(float scale, int64_t zero = 0, int type = TensorProto::UINT8) {
    floats({}, {scale}).ints({}, {zero}, type);
    return *this;
  }
};

QuantisedLayer qLinearAdd(const Ints &a, const Ints &b, int type = TensorProto::UINT8) {
  return QuantisedLayer("QLinearAdd").bytes(a).by(0.5F, 10).bytes(b, type).by(0.25F, 20, type);
}

TEST(QLinearMaps, RestoreComputeAndQuantise) {
  const auto sum = [](QuantisedLayer one) {
    return evaluateModel(one.by(1, 3).model, {{{3}, {10, 12, 255}}, {{3}, {20, 24, 255}}}).values;
  };
  EXPECT_EQ(sum(qLinearAdd({3}, {3})), (Doubles{3, 5, 184}));
  QuantisedLayer product("QLinearMul");
  product.bytes({2}, TensorProto::INT8).by(0.5F, -1, TensorProto::INT8);
  product.ints({2}, {3, -128}, TensorProto::INT8).by(2, 1, TensorProto::INT8);
  product.by(1, -2, TensorProto::INT8);
  EXPECT_EQ(evaluateModel(product.model, {{{2}, {4, 100}}}).values, (Doubles{8, -128}));
  QuantisedLayer leaky("QLinearLeakyRelu");
  leaky.bytes({3}).by(1, 100).by(1, 50).with("alpha", 0.25F);
  EXPECT_EQ(evaluateModel(leaky.model, {{{3}, {100, 90, 101}}}).values, (Doubles{50, 48, 51}));
  QuantisedLayer sigmoid("QLinearSigmoid");
  sigmoid.bytes({3}).by(0.5F, 100).floats({}, {1.0F / 256});
  EXPECT_EQ(evaluateModel(sigmoid.model, {{{3}, {100, 102, 255}}}).values,
            (Doubles{128, 187, 255}));
}

TEST(QLinearMaps, ComputeConstantsAtImport) {
  QuantisedLayer one("QLinearAdd");
  one.ints({2}, {1, 2}, TensorProto::INT8).by(1, 0, TensorProto::INT8);
  one.ints({2}, {3, 100}, TensorProto::INT8).by(2, 0, TensorProto::INT8);
  one.by(1, 1, TensorProto::INT8).model.input("unused", {1});
  EXPECT_EQ(evaluateModel(one.model, {{{1}, {0}}}).values, (Doubles{8, 127}));
}

TEST(QLinearMaps, CheckOperands) {
  EXPECT_EQ(qLinearAdd({2, 3}, {3}).by(1).problem(), "");
  EXPECT_EQ(qLinearAdd({2, 3}, {2}).by(1).problem(),
            "E0206 inputs 'A' and 'B' must broadcast to one shape; found [2 3] and [2]");
  EXPECT_EQ(qLinearAdd({3}, {3}, TensorProto::INT8).by(1).problem(),
            "E0206 the tensors and their zero points must have the same element type; found uint8 "
            "and int8");
  EXPECT_EQ(qLinearAdd({3}, {3}).by(1, 0, TensorProto::INT8).problem(),
            "E0206 the tensors and their zero points must have the same element type; found uint8 "
            "and int8");
  EXPECT_EQ(qLinearAdd({3}, {3}).floats({2}, {1, 1}).problem(),
            "E0205 inputs 'A_scale', 'A_zero_point', 'B_scale', 'B_zero_point', 'C_scale' and "
            "'C_zero_point' must have one element each; found [2]");
  EXPECT_EQ(qLinearAdd({3}, {3}).by(0).problem(),
            "E0206 every element of input 'C_scale' must be finite and above 0; found 0");
  EXPECT_EQ(
      QuantisedLayer("QLinearSigmoid").input({3}).floats({}, {1}).none().floats({}, {1}).problem(),
      "E0205 input 'X' must be int8 or uint8; found float");
  EXPECT_EQ(
      QuantisedLayer("QLinearLeakyRelu").bytes({3}).input({}).none().floats({}, {1}).problem(),
      "E0205 input 'X_scale' must be known at compile time (a constant, or computed from "
      "constants and shapes); found a run-time tensor float []");
}

TEST(QLinearSoftmax, TakesTheAxesOfItsOpset) {
  const auto over = [](int64_t opset) {
    QuantisedLayer one("QLinearSoftmax");
    one.bytes({1, 2, 2}).by(1, 100).by(1.0F / 256, 0).with("opset", opset);
    return one;
  };
  const reference::Tensor x({1, 2, 2}, {100, 100, 100, 200});
  EXPECT_EQ(evaluateModel(over(13).model, {x}).values, (Doubles{128, 128, 0, 255}));
  EXPECT_EQ(evaluateModel(over(12).model, {x}).values, (Doubles{128, 128, 0, 255}));
  EXPECT_EQ(evaluateModel(over(12).with("axis", int64_t{1}).model, {x}).values,
            (Doubles{0, 0, 0, 255}));
  EXPECT_EQ(evaluateModel(over(13).with("axis", int64_t{1}).model, {x}).values,
            (Doubles{128, 0, 128, 255}));
  EXPECT_EQ(over(13).with("axis", int64_t{3}).problem(),
            "E0206 attribute 'axis' must be in [-rank, rank-1] of input 'X'; found axis 3 for rank "
            "3");
  EXPECT_EQ(QuantisedLayer("QLinearSoftmax").bytes({1, 2}).by(1).by(1).problem(),
            "E0203 attribute 'opset' must be an int (required); found none");
}

/// Parts of two channels along axis 0.
QuantisedLayer qLinearConcat() {
  QuantisedLayer one("QLinearConcat");
  return one.by(1, 10).bytes({1, 2}).by(1, 10).bytes({1, 2}).by(0.5F, 20);
}

TEST(QLinearConcat, QuantisesEveryPartAgain) {
  QuantisedLayer one = qLinearConcat();
  one.with("axis", int64_t{-2});
  EXPECT_EQ(evaluateModel(one.model, {{{1, 2}, {3, 250}}, {{1, 2}, {21, 255}}}).values,
            (Doubles{3, 250, 10, 128}));
  QuantisedLayer known("QLinearConcat");
  known.by(1, 10).ints({1}, {12}, TensorProto::UINT8).by(1, 10);
  known.ints({1}, {2}, TensorProto::INT8).by(2, 0, TensorProto::INT8).with("axis", int64_t{0});
  known.model.input("unused", {1});
  EXPECT_EQ(evaluateModel(known.model, {{{1}, {0}}}).values, (Doubles{12, 14}));
}

TEST(QLinearConcat, ChecksItsParts) {
  const std::string parts = "E0206 'inputs' must be tensors of int8 or uint8, each followed by its "
                            "scale and by a zero point of its type; found ";
  EXPECT_EQ(qLinearConcat().bytes({1, 2}).with("axis", int64_t{0}).problem(), parts + "7 inputs");
  EXPECT_EQ(qLinearConcat()
                .input({1, 2})
                .floats({}, {1})
                .ints({}, {0})
                .with("axis", int64_t{0})
                .problem(),
            parts + "float, float, int64");
  const std::string known = "E0205 the scales and zero points of 'inputs' must have one element "
                            "each, known at compile time; found ";
  EXPECT_EQ(qLinearConcat()
                .bytes({1, 2})
                .input({})
                .ints({}, {0}, TensorProto::UINT8)
                .with("axis", int64_t{0})
                .problem(),
            known + "a run-time tensor float []");
  EXPECT_EQ(qLinearConcat()
                .bytes({1, 2})
                .floats({2}, {1, 1})
                .ints({}, {0}, TensorProto::UINT8)
                .with("axis", int64_t{0})
                .problem(),
            known + "a constant float [2]");
  EXPECT_EQ(qLinearConcat().bytes({1, 2}).by(-1).with("axis", int64_t{0}).problem(),
            "E0206 every scale of 'inputs' must be finite and above 0; found -1");
  const std::string fits =
      "E0206 attribute 'axis' must be in [-rank, rank-1] of the tensors, whose "
      "shapes must be equal except along it; found ";
  EXPECT_EQ(qLinearConcat().with("axis", int64_t{2}).problem(), fits + "axis 2 for rank 2");
  EXPECT_EQ(qLinearConcat().bytes({2, 2}).by(1).with("axis", int64_t{1}).problem(),
            fits + "[1 2] and [2 2]");
  EXPECT_EQ(qLinearConcat().bytes({2}).by(1).with("axis", int64_t{0}).problem(),
            fits + "[1 2] and [2]");
}

QuantisedLayer qLinearPool(const char *op, const Ints &shape) {
  return QuantisedLayer(op).bytes(shape).by(0.5F, 10).by(0.25F, 100);
}

TEST(QLinearPools, AverageIntegersLessTheirZeroPoint) {
  QuantisedLayer one = qLinearPool("QLinearAveragePool", {1, 1, 4});
  one.with("kernel_shape", Ints{2}).with("strides", Ints{2}).with("pads", Ints{1, 1});
  const reference::Tensor x({1, 1, 4}, {20, 11, 13, 14});
  EXPECT_EQ(evaluateModel(one.model, {x}).values, (Doubles{120, 104, 108}));
  one.with("count_include_pad", int64_t{1});
  EXPECT_EQ(evaluateModel(one.model, {x}).values, (Doubles{110, 104, 104}));
  QuantisedLayer all = qLinearPool("QLinearGlobalAveragePool", {1, 1, 4});
  EXPECT_EQ(evaluateModel(all.model, {x}).values, (Doubles{109}));
}

TEST(QLinearPools, MayHaveTheirChannelsLast) {
  QuantisedLayer one = qLinearPool("QLinearAveragePool", {1, 3, 2});
  one.with("kernel_shape", Ints{2}).with("channels_last", int64_t{1});
  const reference::Tensor x({1, 3, 2}, {10, 20, 12, 22, 14, 24});
  const reference::Tensor y = evaluateModel(one.model, {x});
  EXPECT_EQ(y.shape, (Ints{1, 2, 2}));
  EXPECT_EQ(y.values, (Doubles{102, 122, 106, 126}));
  QuantisedLayer all = qLinearPool("QLinearGlobalAveragePool", {1, 3, 2});
  all.with("channels_last", int64_t{1});
  EXPECT_EQ(evaluateModel(all.model, {x}).values, (Doubles{104, 124}));
}

TEST(QLinearPools, CheckWindows) {
  const auto over = [](const Ints &shape, const Ints &window, int64_t last) {
    return qLinearPool("QLinearAveragePool", shape)
        .with("kernel_shape", window)
        .with("channels_last", last)
        .problem();
  };
  EXPECT_EQ(over({1, 2, 3}, {3}, 0), "");
  EXPECT_EQ(over({1, 2, 3}, {3}, 1), "E0206 the window must fit into the padded input; found a "
                                     "window of 3 for 2 elements along axis 1");
  EXPECT_EQ(over({1, 2}, {1}, 0), "E0206 input 'X' must have rank 3 or more: batch, channels and "
                                  "spatial axes; found [1 2]");
  EXPECT_EQ(over({1, 2, 3}, {1}, 2),
            "E0203 attribute 'channels_last' must be 0 or 1 (default 0); found 2");
  EXPECT_EQ(qLinearPool("QLinearGlobalAveragePool", {1, 2}).problem(),
            "E0206 input 'X' must have rank 3 or more: batch, channels and spatial axes; found [1 "
            "2]");
  EXPECT_EQ(QuantisedLayer("QLinearGlobalAveragePool").bytes({1, 2, 3}).by(0.5F).by(-1).problem(),
            "E0206 every element of input 'y_scale' must be finite and above 0; found -1");
}

/// a [2 3] of uint8 and b of int8.
QuantisedLayer qGemm(const Ints &b = {3, 2}, const Ints &values = {1, 2, 3, 4, 5, 6}) {
  QuantisedLayer one("QGemm");
  one.bytes({2, 3}).by(0.5F, 1).ints(b, values, TensorProto::INT8);
  return one;
}

const reference::Tensor kMatrix({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(QGemm, ScalesTheProductOfIntegers) {
  QuantisedLayer restored = qGemm();
  restored.floats({2}, {2, 1}).ints({2}, {1, 0}, TensorProto::INT8).with("alpha", 0.5F);
  restored.ints({2}, {4, -4}, TensorProto::INT32);
  EXPECT_EQ(evaluateModel(restored.model, {kMatrix}).values, (Doubles{7, 3, 16, 12}));
  QuantisedLayer quantised = qGemm({2, 3}, {1, 3, 5, 2, 4, 6}).by(1, 0, TensorProto::INT8);
  quantised.none().by(0.25F, 100).with("transB", int64_t{1});
  EXPECT_EQ(evaluateModel(quantised.model, {kMatrix}).values, (Doubles{126, 132, 180, 204}));
}

TEST(QGemm, ChecksOperands) {
  EXPECT_EQ(qGemm({4, 2}, Ints(8, 1)).by(1, 0, TensorProto::INT8).problem(),
            "E0206 'A' and 'B' must have rank 2 and, after 'transA' and 'transB', equal contracted "
            "extents; found [2 3] and [4 2]");
  EXPECT_EQ(qGemm({3, 2, 1}).by(1, 0, TensorProto::INT8).problem(),
            "E0206 'A' and 'B' must have rank 2 and, after 'transA' and 'transB', equal contracted "
            "extents; found [2 3] and [3 2 1]");
  EXPECT_EQ(qGemm().floats({3}, {1, 1, 1}).ints({}, {0}, TensorProto::INT8).problem(),
            "E0206 input 'b_scale' must have one element, or one per column of 'B'; found [3] for "
            "[3 2]");
  EXPECT_EQ(qGemm().floats({}, {1}).ints({}, {0}, TensorProto::UINT8).problem(),
            "E0206 the second operand must have one zero point, or one per column of 'B', of its "
            "own type; found uint8 []");
  EXPECT_EQ(qGemm().by(1, 0, TensorProto::INT8).ints({3}, {1, 1, 1}, TensorProto::INT32).problem(),
            "E0206 input 'C' must broadcast to the shape of the product; found [3] for [2 2]");
  EXPECT_EQ(qGemm().by(1, 0, TensorProto::INT8).none().floats({}, {1}).problem(),
            "E0206 'y_scale' and 'y_zero_point' must be given together; found only one of them");
  EXPECT_EQ(qGemm().by(1, 0, TensorProto::INT8).none().floats({2}, {1, 1}).ints({}, {0}).problem(),
            "E0205 input 'y_zero_point' must be int8 or uint8; found int64");
  EXPECT_EQ(qGemm()
                .by(1, 0, TensorProto::INT8)
                .none()
                .floats({2}, {1, 1})
                .ints({}, {0}, TensorProto::INT8)
                .problem(),
            "E0205 inputs 'a_scale', 'a_zero_point', 'y_scale' and 'y_zero_point' must have one "
            "element each; found [2]");
}

TEST(ProductsToFloat, ScaleAndAddABias) {
  QuantisedLayer one("MatMulIntegerToFloat");
  one.bytes({2, 3}).ints({3, 2}, {1, 2, 3, 4, 5, 6}, TensorProto::INT8);
  one.floats({}, {0.5F}).floats({2}, {2, 1}).ints({}, {1}, TensorProto::UINT8).none();
  one.floats({2}, {1, -1});
  EXPECT_EQ(evaluateModel(one.model, {kMatrix}).values, (Doubles{14, 7, 41, 25}));
  QuantisedLayer dynamic("DynamicQuantizeMatMul");
  dynamic.input({1, 2}).ints({2, 1}, {1, 2}, TensorProto::INT8).floats({}, {0.5F});
  EXPECT_NEAR(evaluateModel(dynamic.model, {{{1, 2}, {-51, 204}}}).values[0], 178.5, 1e-4);
}

TEST(ProductsToFloat, CheckOperands) {
  const auto over = [](const Ints &b, const Ints &bias) {
    int64_t count = 1;
    for (const int64_t extent : b)
      count *= extent;
    QuantisedLayer one("DynamicQuantizeMatMul");
    one.input({2, 3}).ints(b, Ints(count, 1), TensorProto::INT8).floats({}, {1}).none();
    return one.floats(bias, Floats(bias.empty() ? 1 : bias[0], 0)).problem();
  };
  EXPECT_EQ(over({3, 2}, {2}), "");
  EXPECT_EQ(over({2, 2}, {2}), "E0206 the contracted extents must be equal, and the leading axes "
                               "must broadcast; found [2 3] and [2 2]");
  EXPECT_EQ(over({3, 2}, {}),
            "E0206 input 'bias' must have one element per column of 'B'; found [] for [3 2]");
  QuantisedLayer scales("MatMulIntegerToFloat");
  scales.bytes({2, 3}).ints({3, 2}, Ints(6, 1), TensorProto::INT8).floats({3}, {1, 1, 1});
  EXPECT_EQ(scales.floats({}, {1}).problem(),
            "E0205 inputs 'a_scale' and 'a_zero_point' must have one element each; found [3]");
  QuantisedLayer floats("MatMulIntegerToFloat");
  floats.input({2, 3}).ints({3, 2}, Ints(6, 1), TensorProto::INT8).floats({}, {1});
  EXPECT_EQ(floats.floats({}, {1}).problem(), "E0205 input 'A' must be int8 or uint8; found float");
}

/// x [1 2 4] and weights of three times 4 columns, in two heads.
QuantisedLayer qAttention(const Ints &scales = {}, const Ints &bias = {12}) {
  QuantisedLayer one("QAttention");
  one.bytes({1, 2, 4}).ints({4, 12}, Ints(48, 1), TensorProto::INT8);
  one.floats(bias, Floats(bias[0], 0)).floats({}, {0.5F});
  one.floats(scales, Floats(scales.empty() ? 1 : scales[0], 0.25F)).with("num_heads", int64_t{2});
  return one;
}

TEST(QAttention, AttendsToRestoredProducts) {
  QuantisedLayer one = qAttention({12});
  one.none().ints({}, {100}, TensorProto::UINT8);
  // All columns are one eighth of the sum of a row; equal scores give the mean of both values.
  const auto y = evaluateModel(one.model, {{{1, 2, 4}, {100, 100, 100, 100, 101, 103, 102, 102}}});
  ASSERT_EQ(y.shape, (Ints{1, 2, 4}));
  EXPECT_NEAR(y.values[0], 0.5, 1e-6);
  // The second query prefers the second value: its scores are 0 and 2 * 1 * 1 / sqrt 2.
  EXPECT_NEAR(y.values[4], 1 / (1 + std::exp(-std::sqrt(2.0))), 1e-6);
}

TEST(QAttention, ChecksOperands) {
  EXPECT_EQ(qAttention().problem(), "");
  EXPECT_EQ(qAttention({}, {8}).problem(),
            "E0206 'input' must be [batch, positions, width], 'weight' [width, 3 * size] and "
            "'bias' [3 * size], where 'num_heads' must divide the size; found 2 heads and [1 2 4] "
            "and [4 12] and [8] and [] and []");
  EXPECT_EQ(qAttention({4}).problem(), "E0206 input 'weight_scale' must have one element, or one "
                                       "per column of 'weight'; found [4] for [4 12]");
  EXPECT_EQ(qAttention().none().ints({2}, {0, 0}, TensorProto::UINT8).problem(),
            "E0205 inputs 'input_scale' and 'input_zero_point' must have one element each; found "
            "[2]");
  EXPECT_EQ(qAttention().none().none().ints({}, {0}, TensorProto::UINT8).problem(),
            "E0206 the second operand must have one zero point, or one per column of 'weight', of "
            "its own type; found uint8 []");
  EXPECT_EQ(qAttention().with("do_rotary", int64_t{1}).problem(),
            "E0203 attribute 'do_rotary' must be 0 (default 0); found 1");
}

/// Conditions that these operators share with others.
TEST(QuantisedLayers, CheckWhatTheyShareWithOthers) {
  const auto pool = [](const Ints &shape) { return qLinearPool("QLinearAveragePool", shape); };
  const auto window = [&](const char *name, const auto &value) {
    QuantisedLayer one = pool({1, 2, 4});
    one.with("kernel_shape", Ints{2}).with(name, value);
    return one;
  };
  EXPECT_EQ(
      window("auto_pad", "SAME").problem(),
      "E0206 attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID; found 'SAME'");
  EXPECT_EQ(window("auto_pad", "VALID").with("pads", Ints{1, 1}).problem(),
            "E0206 attribute 'pads' must be left out or 0 unless 'auto_pad' is NOTSET; found [1 1] "
            "and VALID");
  QuantisedLayer scales("QLinearAveragePool");
  scales.bytes({1, 2, 4}).floats({2}, {1, 1}).ints({}, {0}, TensorProto::UINT8).by(1);
  EXPECT_EQ(scales.with("kernel_shape", Ints{2}).problem(),
            "E0205 inputs 'x_scale', 'x_zero_point', 'y_scale' and 'y_zero_point' must have one "
            "element each; found [2]");
  EXPECT_EQ(window("pads", Ints{2, 0}).problem(),
            "E0206 the pads of an axis must be smaller than the window; found pads 2 and 0 for a "
            "window over 2 elements of axis 2");
  EXPECT_EQ(pool({1, 1, 1 << 25}).with("kernel_shape", Ints{1}).problem(),
            "E0205 the window must have at most 16777216 positions; found [33554432]");
  EXPECT_EQ(
      QuantisedLayer("QLinearConcat").by(0, 10).bytes({2}).by(1).with("axis", int64_t{0}).problem(),
      "E0206 every element of input 'Y_scale' must be finite and above 0; found 0");
  EXPECT_EQ(QuantisedLayer("QLinearLeakyRelu").bytes({3}).by(0).by(1).problem(),
            "E0206 every element of input 'X_scale' must be finite and above 0; found 0");
  EXPECT_EQ(QuantisedLayer("QLinearLeakyRelu").bytes({3}).by(1).by(-1).problem(),
            "E0206 every element of input 'Y_scale' must be finite and above 0; found -1");
  QuantisedLayer product("QLinearMul");
  EXPECT_EQ(product.bytes({2}).by(1).bytes({3}).by(1).by(1).problem(),
            "E0206 inputs 'A' and 'B' must broadcast to one shape; found [2] and [3]");
  EXPECT_EQ(QuantisedLayer("QLinearSigmoid")
                .bytes({3})
                .floats({2}, {1, 1})
                .none()
                .floats({}, {1})
                .problem(),
            "E0205 inputs 'X_scale', 'X_zero_point', 'Y_scale' and 'Y_zero_point' must have one "
            "element each; found [2]");
  EXPECT_EQ(qGemm().by(0, 0, TensorProto::INT8).problem(),
            "E0206 every element of input 'b_scale' must be finite and above 0; found 0");
  QuantisedLayer first("QGemm");
  first.bytes({2, 3}).by(0, 1).ints({3, 2}, Ints(6, 1), TensorProto::INT8);
  EXPECT_EQ(first.by(1, 0, TensorProto::INT8).problem(),
            "E0206 every element of input 'a_scale' must be finite and above 0; found 0");
  EXPECT_EQ(qGemm().by(1, 0, TensorProto::INT8).none().by(-2).problem(),
            "E0206 every element of input 'y_scale' must be finite and above 0; found -2");
  QuantisedLayer floats("QGemm");
  floats.input({2, 3}).by(1).ints({3, 2}, Ints(6, 1), TensorProto::INT8);
  EXPECT_EQ(floats.by(1, 0, TensorProto::INT8).problem(),
            "E0205 input 'A' must be int8 or uint8; found float");
  EXPECT_EQ(
      QuantisedLayer("QGemm").bytes({2, 3}).by(1).floats({3, 2}, Floats(6, 1)).by(1).problem(),
      "E0205 input 'B' must be int8 or uint8; found float");
  QuantisedLayer dynamic("DynamicQuantizeMatMul");
  dynamic.input({2, 3}).ints({3, 2}, Ints(6, 1), TensorProto::INT8);
  EXPECT_EQ(dynamic.floats({}, {0}).problem(),
            "E0206 every element of input 'b_scale' must be finite and above 0; found 0");
  const auto toFloat = [](const Ints &b, float aScale, float bScale) {
    QuantisedLayer one("MatMulIntegerToFloat");
    one.bytes({2, 3}).ints(b, Ints(b[0] * b[1], 1), TensorProto::INT8);
    return one.floats({}, {aScale}).floats({}, {bScale}).problem();
  };
  EXPECT_EQ(toFloat({3, 2}, 0, 1),
            "E0206 every element of input 'a_scale' must be finite and above 0; found 0");
  EXPECT_EQ(toFloat({3, 2}, 1, 0),
            "E0206 every element of input 'b_scale' must be finite and above 0; found 0");
  EXPECT_EQ(toFloat({2, 2}, 1, 1), "E0206 the contracted extents must be equal, and the leading "
                                   "axes must broadcast; found [2 3] and [2 2]");
  QuantisedLayer attention("QAttention");
  attention.input({1, 2, 4})
      .ints({4, 12}, Ints(48, 1), TensorProto::INT8)
      .floats({12}, Floats(12, 0));
  EXPECT_EQ(attention.floats({}, {1}).floats({}, {1}).with("num_heads", int64_t{2}).problem(),
            "E0205 input 'input' must be int8 or uint8; found float");
  QuantisedLayer weights("QAttention");
  weights.bytes({1, 2, 4}).floats({4, 12}, Floats(48, 1)).floats({12}, Floats(12, 0));
  EXPECT_EQ(weights.floats({}, {1}).floats({}, {1}).with("num_heads", int64_t{2}).problem(),
            "E0205 input 'weight' must be int8 or uint8; found float");
  QuantisedLayer past = qAttention();
  past.none().none().none().input({2, 1, 2, 3});
  EXPECT_EQ(past.problem(), "E0206 input 'past' must be [2, batch, heads, positions, head size] "
                            "for keys and values; found [2 1 2 3]");
}

} // namespace
} // namespace sluice::frontend::test
