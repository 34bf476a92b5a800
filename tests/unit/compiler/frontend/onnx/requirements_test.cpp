// Sentences of the support table that no other test provokes: a node that breaks each, and nothing
// before it.
#include <limits>

#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using One = OneNodeModel;
using onnx::TensorProto;

Floats zeros(size_t count) { return Floats(count, 0); }

TEST(Requirements, OfNormalisations) {
  EXPECT_EQ(One("LRN").input({1, 8192, 1, 1}).with("size", int64_t{3}).problem(), "");
  EXPECT_EQ(One("LRN").input({1, 8193, 1, 1}).with("size", int64_t{3}).problem(),
            "E0205 there must be at most 8192 channels (axis 1); found 8193");
}

TEST(Requirements, OfRecurrences) {
  const auto node = [](const char *op, int64_t gates, const Ints &w, const Ints &b) {
    return One(op)
        .input({3, 1, 4})
        .floats(w, zeros(static_cast<size_t>(w[1] * w[2])))
        .floats({1, gates * 5, 5}, zeros(static_cast<size_t>(gates * 25)))
        .floats(b, zeros(static_cast<size_t>(b[1])))
        .with("hidden_size", int64_t{5})
        .problem();
  };
  EXPECT_EQ(node("RNN", 1, {1, 5, 4}, {1, 10}), "");
  EXPECT_EQ(node("RNN", 1, {1, 5, 3}, {1, 10}), "E0206 input 'W' must be [directions, hidden size, "
                                                "input size]; found [1 5 3], expected [1 5 4]");
  EXPECT_EQ(node("RNN", 1, {1, 5, 4}, {1, 9}),
            "E0206 input 'B' must be [directions, 2 * hidden size]; found [1 9], expected [1 10]");
  EXPECT_EQ(node("GRU", 3, {1, 15, 4}, {1, 29}),
            "E0206 input 'B' must be [directions, 6 * hidden size]; found [1 29], expected [1 30]");
}

TEST(Requirements, OfSequences) {
  EXPECT_EQ(One("SplitToSequence").input({1, 4097}).with("axis", int64_t{1}).problem(),
            "E0205 axis 'axis' must have at most 4096 elements if 'split' is left out; found 4097");
}

TEST(Requirements, OfLosses) {
  const auto loss = [] { return One("SoftmaxCrossEntropyLoss").input({2, 3}); };
  EXPECT_EQ(loss().ints({2}, {0, 2}).floats({3}, {1, 1, 1}).problem(), "");
  EXPECT_EQ(loss().ints({2}, {0, 3}).problem(),
            "E0206 every element of input 'labels' must be in [0, classes-1], or 'ignore_index'; "
            "found 3 for 3 classes");
  EXPECT_EQ(loss().ints({2}, {0, 2}).floats({2}, {1, 1}).problem(),
            "E0206 input 'weights' must have one element per class; found [2] for 3 classes");
}

TEST(Requirements, OfTransforms) {
  EXPECT_EQ(One("STFT").input({1, 16, 3}).ints({}, {4}).problem(),
            "E0206 input 'signal' must have rank 2, or rank 3 and last extent 1 (real) or 2 "
            "(complex); found "
            "[1 16 3]");
}

TEST(Requirements, OfQuantisation) {
  const auto bytes = [](const char *op, const Ints &shape) {
    return One(op).ints(shape, Ints(static_cast<size_t>(shape[0] * shape[1]), 1),
                        TensorProto::UINT8);
  };
  const auto dequantised = [&](const Floats &scale, const Ints &zero) {
    return bytes("DequantizeLinear", {2, 3})
        .floats({static_cast<int64_t>(scale.size())}, scale)
        .ints({static_cast<int64_t>(zero.size())}, zero, TensorProto::UINT8)
        .with("axis", int64_t{1})
        .problem();
  };
  EXPECT_EQ(dequantised({1, 1, 1}, {0, 0, 0}), "");
  EXPECT_EQ(dequantised({1, 0, 1}, {0, 0, 0}),
            "E0206 every element of input 'x_scale' must be finite and above 0; found 0");
  EXPECT_EQ(dequantised({1, 1}, {0, 0}), "E0206 input 'x_scale' must have one element, or one per "
                                         "position of 'axis'; found [2] for [2 3]");
  EXPECT_EQ(dequantised({1, 1, 1}, {0, 0}),
            "E0206 input 'x_zero_point' must have the shape of 'x_scale'; found [2] and [3]");
  EXPECT_EQ(bytes("MatMulInteger", {1, 4})
                .ints({4, 1}, {1, 1, 1, 1}, TensorProto::UINT8)
                .ints({2}, {1, 1}, TensorProto::UINT8)
                .problem(),
            "E0205 input 'a_zero_point' must have one element; found [2]");
}

TEST(Requirements, OfResizing) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(One("Resize")
                .input({1, 4})
                .floats({4}, {0, kInfinity, 1, 1})
                .floats({2}, {1, 1})
                .with("coordinate_transformation_mode", "tf_crop_and_resize")
                .problem(),
            "E0206 'roi' must be finite with 'tf_crop_and_resize'; found inf");
}

TEST(Requirements, OfOperandsThatBroadcast) {
  constexpr const char *kBroadcast = "E0206 the input shapes must broadcast; found [2] and [3]";
  for (const char *op : {"Max", "Min", "Sum"})
    EXPECT_EQ(One(op).input({2}).input({3}).problem(), kBroadcast);
  for (const char *op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    EXPECT_EQ(One(op).ints({2}, {1, 1}).ints({3}, {1, 1, 1}).problem(), kBroadcast);
  for (const char *op : {"And", "Or", "Xor"})
    EXPECT_EQ(One(op)
                  .ints({2}, {1, 1}, TensorProto::BOOL)
                  .ints({3}, {1, 1, 1}, TensorProto::BOOL)
                  .problem(),
              kBroadcast);
  EXPECT_EQ(One("BitShift")
                .ints({2}, {1, 1}, TensorProto::UINT8)
                .ints({3}, {1, 1, 1}, TensorProto::UINT8)
                .with("direction", "LEFT")
                .problem(),
            kBroadcast);
}

TEST(Requirements, OfWindows) {
  for (const char *op : {"AveragePool", "MaxPool", "LpPool"})
    EXPECT_EQ(One(op)
                  .input({1, 1, 4, 4})
                  .with("kernel_shape", Ints{2, 2})
                  .with("auto_pad", "SAME_UPPER")
                  .with("pads", Ints{1, 1, 1, 1})
                  .problem(),
              "E0206 attribute 'pads' must be left out or 0 unless 'auto_pad' is NOTSET; found "
              "[1 1 1 1] and SAME_UPPER");
}

TEST(Requirements, OfQuantisedProducts) {
  const auto matrix = Ints(6, 1);
  EXPECT_EQ(One("QLinearMatMul")
                .ints({2, 3}, matrix, TensorProto::UINT8)
                .floats({}, {1})
                .ints({}, {0}, TensorProto::UINT8)
                .ints({2, 3}, matrix, TensorProto::UINT8)
                .floats({}, {1})
                .ints({}, {0}, TensorProto::UINT8)
                .floats({}, {1})
                .ints({}, {0}, TensorProto::UINT8)
                .problem(),
            "E0206 the contracted extents must be equal, and the leading axes must broadcast; "
            "found [2 3] and [2 3]");
}

TEST(Requirements, OfBoxes) {
  EXPECT_EQ(One("NonMaxSuppression")
                .floats({1, 16385, 4}, zeros(16385 * 4))
                .floats({1, 1, 16385}, zeros(16385))
                .problem(),
            "E0205 there must be at most 268435456 pairs of boxes; found [1 1 16385]");
}

} // namespace
} // namespace sluice::frontend::test
