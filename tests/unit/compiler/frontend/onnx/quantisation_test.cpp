// Quantised tensors, integers known at import, LRN, and opsets 1 to 6: what is refused, word for
// word, and what is known by hand.
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using One = OneNodeModel;
using Doubles = std::vector<double>;
using onnx::TensorProto;

TEST(QuantizeLinear, RefusesWhatIsNoByte) {
  const auto over = [](const Ints &zeroShape, int type, float scale = 0.5F) {
    return One("QuantizeLinear")
        .input({2, 3})
        .floats({}, {scale})
        .ints(zeroShape, Ints(zeroShape.empty() ? 1 : zeroShape[0], 0), type)
        .problem();
  };
  EXPECT_EQ(over({}, TensorProto::INT8), "");
  EXPECT_EQ(over({}, TensorProto::INT16),
            "E0205 input 'y_zero_point' must be int8 or uint8; found int16");
  EXPECT_EQ(over({3}, TensorProto::INT8),
            "E0206 input 'y_zero_point' must have the shape of 'y_scale'; found [3] and []");
  EXPECT_EQ(over({}, TensorProto::INT8, 0),
            "E0206 every element of input 'y_scale' must be finite and above 0; found 0");
  EXPECT_EQ(One("QuantizeLinear").input({2, 3}).floats({2}, {1, 1}).problem(),
            "E0206 input 'y_scale' must have one element, or one per position of 'axis'; found [2] "
            "for [2 3]");
  EXPECT_EQ(One("QuantizeLinear").input({3}).floats({3}, {1, 1, 1}).problem(),
            "E0206 attribute 'axis' must be in [-rank, rank-1] of input 'x' unless the scale has "
            "one element; found axis 1 for rank 1");
  EXPECT_EQ(One("DequantizeLinear").input({3}).floats({}, {1}).problem(),
            "E0205 input 'x' must be int8, uint8 or, if known at compile time, an integer of 4 to "
            "32 bits; found float");
}

TEST(QuantizeLinear, TakesOneScaleAndOneZeroPointOfAnyRank) {
  for (const Ints &scale : {Ints{}, Ints{1}})
    for (const Ints &zero : {Ints{}, Ints{1}}) {
      One one("QuantizeLinear");
      one.input({2}).floats(scale, {2}).ints(zero, {10}, TensorProto::UINT8);
      EXPECT_EQ(evaluateModel(one.model, {{{2}, {4, 1000}}}).values, (Doubles{12, 255}));
    }
}

TEST(QuantizeLinear, RoundsToEvenAndSaturates) {
  One one("QuantizeLinear");
  one.input({5}).floats({}, {2}).ints({}, {10}, TensorProto::UINT8);
  EXPECT_EQ(evaluateModel(one.model, {{{5}, {1, 3, -1, -100, 1000}}}).values,
            (Doubles{10, 12, 10, 0, 255}));
}

TEST(QuantizeLinear, NamesItsTypeFromOpset21On) {
  for (const int64_t opset : {21, 23, 25}) {
    const auto quantised = [&](int64_t type) {
      Model model(opset);
      model.input("x", {3}).floats("s", {}, {0.5F}).output("y");
      model.node("QuantizeLinear", {"x", "s"}, {"q"}).attribute("output_dtype", type);
      model.node("DequantizeLinear", {"q", "s"}, {"y"});
      return evaluateModel(model, {reference::Tensor({3}, {-70, 1, 100})}).values;
    };
    EXPECT_EQ(quantised(0), (std::vector<double>{0, 1, 100}));
    EXPECT_EQ(quantised(onnx::TensorProto::INT8), (std::vector<double>{-64, 1, 63.5}));
    const auto by = [&] { return OneNodeModel("QuantizeLinear", opset).input({3}); };
    EXPECT_EQ(by().floats({}, {1}).with("output_dtype", int64_t{5}).problem(),
              "E0203 attribute 'output_dtype' must be 0, 2 or 3 (default 0); found 5");
    EXPECT_EQ(by().floats({}, {1}).with("block_size", int64_t{2}).problem(),
              "E0203 attribute 'block_size' must be 0 (default 0); found 2");
    EXPECT_EQ(by().floats({}, {1})
                  .ints({}, {3}, onnx::TensorProto::UINT8)
                  .with("output_dtype", int64_t{3})
                  .problem(),
              "E0206 attribute 'output_dtype' must be 0 or the type of 'y_zero_point', if that is "
              "given; found 3 and uint8");
  }
}

TEST(DequantizeLinear, NamesItsTypeFromOpset23On) {
  const auto restored = [](int64_t opset, int64_t type) {
    Model model(opset);
    model.input("x", {1}).floats("s", {}, {0.1F}).ints("q", {1}, {3}).output("y");
    auto &tensor = *model.graph().mutable_initializer()->rbegin();
    tensor.clear_int64_data();
    tensor.set_data_type(onnx::TensorProto::INT8);
    tensor.add_int32_data(3);
    model.node("DequantizeLinear", {"q", "s"}, {"r"}).attribute("output_dtype", type);
    model.node("CastLike", {"x", "r"}, {"h"});
    model.node("Add", {"h", "r"}, {"y"});
    return import(model).messages();
  };
  EXPECT_EQ(restored(23, onnx::TensorProto::FLOAT16), "");
  EXPECT_EQ(restored(23, 0), "");
  EXPECT_EQ(restored(21, 1),
            "E0203 node 0 (DequantizeLinear): attribute 'output_dtype' of DequantizeLinear is not "
            "supported in opset 21; known attributes: 'axis', 'block_size'");
  EXPECT_EQ(restored(23, 11), "E0203 node 0 (DequantizeLinear): DequantizeLinear: attribute "
                              "'output_dtype' must be 0, 1, 10 or 16 (default 0); found 11");
}

/// x [1 3] is 0, 51 and 255 of steps of 1 from -51 on.
TEST(DynamicQuantizeLinear, HasReadersThatUnderstandIt) {
  const auto read = [](const std::function<void(Model &)> &by) {
    Model model(13);
    model.input("x", {1, 3}).output("y");
    model.node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
    by(model);
    return evaluateModel(model, {{{1, 3}, {-51, 0, 204}}}).values;
  };
  const auto restored =
      read([](Model &model) { model.node("DequantizeLinear", {"q", "s", "z"}, {"y"}); });
  EXPECT_NEAR(restored[0], -51, 1e-4);
  EXPECT_NEAR(restored[2], 204, 1e-4);
  const auto bytes = [](Model &model, const Ints &shape, const Ints &values) {
    model.ints("w", shape, values);
    auto &tensor = *model.graph().mutable_initializer()->rbegin();
    tensor.clear_int64_data();
    tensor.clear_raw_data();
    tensor.set_data_type(TensorProto::INT8);
    for (const int64_t value : values)
      tensor.add_int32_data(static_cast<int32_t>(value));
  };
  EXPECT_EQ(read([&](Model &model) {
              bytes(model, {3, 1}, {1, 2, 3});
              model.node("MatMulInteger", {"q", "w", "z"}, {"i"});
              model.node("Cast", {"i"}, {"y"}).attribute("to", int64_t{TensorProto::FLOAT});
            }),
            (Doubles{-51 + 3 * 204}));
  EXPECT_EQ(read([&](Model &model) {
              bytes(model, {1, 1, 2}, {1, 2});
              model.ints("axes", {1}, {1});
              model.node("Unsqueeze", {"q", "axes"}, {"wide"});
              model.node("ConvInteger", {"wide", "w", "z"}, {"i"}).attribute("pads", Ints{1, 0});
              model.node("Cast", {"i"}, {"y"}).attribute("to", int64_t{TensorProto::FLOAT});
            }),
            (Doubles{-102, -51, 408}));
}

TEST(QuantisedProducts, RefuseWhatDoesNotFit) {
  const auto over = [](const Ints &a, const Ints &b, int type = TensorProto::UINT8) {
    const auto count = [](const Ints &shape) {
      int64_t elements = 1;
      for (const int64_t extent : shape)
        elements *= extent;
      return Ints(elements, 1);
    };
    return One("MatMulInteger")
        .ints(a, count(a), type)
        .ints(b, count(b), TensorProto::UINT8)
        .problem();
  };
  EXPECT_EQ(over({2, 3}, {4, 2}), "E0206 the contracted extents must be equal, and the leading "
                                  "axes must broadcast; found [2 3] and [4 2]");
  EXPECT_EQ(over({2, 3}, {}), "E0206 the contracted extents must be equal, and the leading axes "
                              "must broadcast; found [2 3] and []");
  EXPECT_EQ(over({2, 3}, {3, 2}, TensorProto::INT32),
            "E0205 input 'A' must be int8 or uint8; found int32");
}

/// x [1 4 7 7] of bytes that are computed, and weights of zeros.
One convInteger(const Ints &weights, int type = TensorProto::INT8) {
  One one("ConvInteger");
  one.input({1, 4, 7, 7});
  one.model.graph().mutable_node(0)->set_input(0, "bytes");
  one.model.floats("scale", {}, {1});
  one.model.node("QuantizeLinear", {"i0", "scale"}, {"bytes"});
  int64_t count = 1;
  for (const int64_t extent : weights)
    count *= extent;
  return one.ints(weights, Ints(count, 0), type);
}

TEST(QuantisedConvolutions, RefuseWhatDoesNotFit) {
  EXPECT_EQ(convInteger({5, 4, 3, 3}).problem(), "");
  EXPECT_EQ(convInteger({5, 4, 3, 3}, TensorProto::INT32).problem(),
            "E0205 input 'w' must be int8 or uint8; found int32");
  EXPECT_EQ(
      convInteger({5, 4, 3}).problem(),
      "E0206 input 'w' must have the rank of 'x' and no extent 0; found [5 4 3] for [1 4 7 7]");
  EXPECT_EQ(convInteger({5, 3, 3, 3}).problem(),
            "E0206 'group' must divide the output channels of 'w'; 'x' must have 'group' times its "
            "input channels; found group 1, [1 4 7 7] of 'x' and [5 3 3 3] of 'w'");
  EXPECT_EQ(convInteger({5, 4, 3, 3}).with("kernel_shape", Ints{2, 2}).problem(),
            "E0206 attribute 'kernel_shape' must be the kernel of 'w'; found [2 2] for [5 4 3 3]");
  EXPECT_EQ(convInteger({5, 4, 3, 3}).none().ints({3}, {0, 0, 0}, TensorProto::INT8).problem(),
            "E0206 the second operand must have one zero point, or one per output channel of 'w', "
            "of its own type; found int8 [3]");
  EXPECT_EQ(convInteger({5, 4, 3, 3}).ints({4}, {0, 0, 0, 0}, TensorProto::UINT8).problem(),
            "E0205 input 'x_zero_point' must have one element; found [4]");
}

/// x [1 4 7 7], weights [5 4 3 3], scales and zero points of these shapes, and a bias.
One qLinearConv(const Ints &scales, float scale, const Ints &bias, int type = TensorProto::INT32) {
  const auto count = [](const Ints &shape) { return shape.empty() ? 1 : shape[0]; };
  One one("QLinearConv");
  one.input({1, 4, 7, 7});
  one.model.graph().mutable_node(0)->set_input(0, "bytes");
  one.model.floats("scale", {}, {1});
  one.model.node("QuantizeLinear", {"i0", "scale"}, {"bytes"});
  one.floats({}, {1}).ints({}, {3}, TensorProto::UINT8);
  one.ints({5, 4, 3, 3}, Ints(180, 1), TensorProto::INT8);
  one.floats(scales, Floats(count(scales), scale));
  one.ints(scales, Ints(count(scales), 0), TensorProto::INT8);
  one.floats({}, {1}).ints({}, {3}, TensorProto::UINT8);
  if (!bias.empty())
    one.ints(bias, Ints(count(bias), 1), type);
  return one;
}

TEST(QuantisedConvolutions, CheckScalesAndBias) {
  EXPECT_EQ(qLinearConv({}, 1, {}).problem(), "");
  EXPECT_EQ(qLinearConv({5}, 1, {5}).problem(), "");
  EXPECT_EQ(qLinearConv({4}, 1, {}).problem(),
            "E0206 input 'w_scale' must have one element, or one per output channel of 'w'; found "
            "[4] for [5 4 3 3]");
  EXPECT_EQ(qLinearConv({}, -1, {}).problem(),
            "E0206 every element of input 'w_scale' must be finite and above 0; found -1");
  EXPECT_EQ(
      qLinearConv({}, 1, {4}).problem(),
      "E0206 input 'B' must have one element per output channel of 'w'; found [4] for [5 4 3 3]");
  EXPECT_EQ(qLinearConv({}, 1, {5}, TensorProto::INT8).problem(),
            "E0205 input 'B' must be int32 or int64; found int8");
}

TEST(Integers, AreComputedAtImport) {
  const auto over = [](One one) {
    one.model.input("unused", {1});
    return evaluateModel(one.model, {{{1}, {0}}}).values;
  };
  EXPECT_EQ(over(One("Mod").ints({4}, {-4, 7, 5, -7}).ints({4}, {3, -3, 8, -1})),
            (Doubles{2, -2, 5, 0}));
  EXPECT_EQ(over(One("Mod").ints({2}, {-4, 7}).ints({2}, {3, -3}).with("fmod", int64_t{1})),
            (Doubles{-1, 1}));
  EXPECT_EQ(over(One("BitwiseXor").ints({2}, {6, 5}).ints({1}, {3})), (Doubles{5, 6}));
  EXPECT_EQ(over(One("BitwiseNot").ints({2}, {6, -1})), (Doubles{-7, 0}));
  EXPECT_EQ(over(One("Max", 13).ints({2}, {6, -1}).ints({1}, {3})), (Doubles{6, 3}));
  EXPECT_EQ(over(One("BitShift")
                     .ints({3}, {200, 1, 255}, TensorProto::UINT8)
                     .ints({3}, {1, 9, 0}, TensorProto::UINT8)
                     .with("direction", "LEFT")),
            (Doubles{144, 0, 255}));
}

TEST(Integers, RefuseWhatHasNoResult) {
  EXPECT_EQ(One("Mod").ints({1}, {1}).ints({1}, {0}).problem(),
            "E0206 node 0 (Mod): Mod: integer division by 0");
  EXPECT_EQ(One("Mod").input({1}).floats({1}, {2}).problem(),
            "E0206 attribute 'fmod' must be 1 for floating-point inputs; found 0");
  const auto shifted = [](int type, const char *direction) {
    return One("BitShift").ints({1}, {1}, type).ints({1}, {1}, type).with("direction", direction);
  };
  EXPECT_EQ(shifted(TensorProto::UINT16, "LEFT").problem(), "");
  EXPECT_EQ(shifted(TensorProto::UINT16, "UP").problem(),
            "E0206 attribute 'direction' must be 'LEFT' or 'RIGHT'; found 'UP'");
  EXPECT_EQ(shifted(TensorProto::INT32, "LEFT").problem(),
            "E0206 the inputs must be uint8, uint16, uint32 or uint64; found int32");
  for (const char *op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    EXPECT_EQ(
        One(op).ints({1}, {1}, TensorProto::INT16).ints({1}, {1}, TensorProto::INT16).problem(),
        "");
    EXPECT_EQ(One(op).floats({1}, {1}).floats({1}, {1}).problem(),
              "E0206 the inputs must be int8, int16, int32, int64, uint8, uint16, uint32 or "
              "uint64; found float");
  }
  EXPECT_EQ(One("BitwiseNot").ints({1}, {1}, TensorProto::BOOL).problem(),
            "E0206 the input must be int8, int16, int32, int64, uint8, uint16, uint32 or uint64; "
            "found bool");
}

TEST(Lrn, NeedsChannels) {
  EXPECT_EQ(One("LRN").input({3}).with("size", int64_t{3}).problem(),
            "E0206 input 'X' must have rank 2 or more; found [3]");
  EXPECT_EQ(One("LRN").input({1, 3}).with("size", int64_t{0}).problem(),
            "E0206 attribute 'size' must be at least 1; found 0");
}

TEST(EarlyOpsets, RepeatTheSecondOperandOnRequest) {
  const auto over = [](const Ints &b, int64_t broadcast, std::optional<int64_t> axis = {}) {
    One one("Add", 6);
    one.input({2, 3, 4}).input(b).with("broadcast", broadcast);
    if (axis)
      one.with("axis", *axis);
    return one.problem();
  };
  EXPECT_EQ(over({2, 3, 4}, 0), "");
  EXPECT_EQ(over({3, 4}, 1), "");
  EXPECT_EQ(over({2, 3}, 1, 0), "");
  EXPECT_EQ(over({3}, 1, 1), "");
  EXPECT_EQ(over({}, 1), "");
  const std::string sentence = "E0206 the shapes must be equal, or, with 'broadcast' 1, input 1 "
                               "have extents of 1 or of input 0 from 'axis'; found ";
  EXPECT_EQ(over({4}, 0), sentence + "[2 3 4] and [4], 'broadcast' 0");
  EXPECT_EQ(over({3}, 1), sentence + "[2 3 4] and [3], 'broadcast' 1");
  EXPECT_EQ(over({3, 4}, 1, 2), sentence + "[2 3 4] and [3 4], 'broadcast' 1, 'axis' 2");
  EXPECT_EQ(over({2, 2, 3, 4}, 1), sentence + "[2 3 4] and [2 2 3 4], 'broadcast' 1");
}

TEST(EarlyOpsets, PlaceTheSecondOperandAlongAnyAxes) {
  One one("Sub", 6);
  one.input({2, 3}).input({2}).with("broadcast", int64_t{1}).with("axis", int64_t{0});
  EXPECT_EQ(evaluateModel(one.model, {{{2, 3}, {1, 2, 3, 4, 5, 6}}, {{2}, {1, 2}}}).values,
            (Doubles{0, 1, 2, 2, 3, 4}));
}

TEST(EarlyOpsets, RefuseTraining) {
  for (const int64_t opset : {1, 6}) {
    EXPECT_EQ(One("Dropout", opset).input({2}).problem(),
              "E0203 attribute 'is_test' must be 1 (required); found none");
    EXPECT_EQ(One("Dropout", opset).input({2}).with("is_test", int64_t{1}).problem(), "");
  }
}

TEST(EarlyOpsets, HaveChecksOfTheirOwn) {
  EXPECT_EQ(One("PRelu", 6).input({1, 3, 2}).floats({2}, {1, 1}).problem(),
            "E0206 input 'slope' must have one element, or one per channel (axis 1); found [1 3 2] "
            "and [2]");
  EXPECT_EQ(One("Cast", 1).input({1}).with("to", "FLOAT").problem(), "");
  EXPECT_EQ(One("Cast", 1).input({1}).with("to", "REAL").problem(),
            "E0205 attribute 'to' must be a float, integer or bool type; found 'REAL'");
  EXPECT_EQ(One("Tile", 1).input({2}).floats({1}, {2.5F}).floats({1}, {0}).problem(),
            "E0206 inputs 'tiles' and 'axis' must have one element, a whole number; found 2.5");
  EXPECT_EQ(
      One("Tile", 1).input({2}).floats({1}, {2}).floats({1}, {1}).problem(),
      "E0206 input 'axis' must be in [-rank, rank-1] of input 'input'; found axis 1 for rank 1");
}

} // namespace
} // namespace sluice::frontend::test
