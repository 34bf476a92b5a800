// Operators that put elements to places or take them from there: what is refused, word for word,
// and what is known at import. The values of others are tested on the engines (tests/ops).
#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using One = OneNodeModel;
using Doubles = std::vector<double>;
using onnx::TensorProto;

/// What a node over known tensors gives.
reference::Tensor known(One one) {
  Model &model = one.model;
  model.graph().mutable_node(0)->set_output(0, "known");
  model.input("x", {});
  model.node("Cast", {"known"}, {"number"}).attribute("to", int64_t{TensorProto::FLOAT});
  model.node("Add", {"number", "x"}, {"y"});
  return evaluateModel(model, {reference::Tensor({}, {0})});
}

One columns(const Ints &shape, const Ints &image, const Ints &block) {
  return One("Col2Im")
      .input(shape)
      .ints({static_cast<int64_t>(image.size())}, image)
      .ints({static_cast<int64_t>(block.size())}, block);
}

TEST(Col2Im, RefusesBlocksThatDoNotFit) {
  EXPECT_EQ(columns({1, 5, 5}, {5, 5}, {1, 5}).problem(), "");
  EXPECT_EQ(columns({1, 5, 5}, {5, 5}, {1, 5, 1}).problem(),
            "E0206 inputs 'image_shape' and 'block_shape' must have one element per spatial axis, "
            "at least 1 axis; found [1 5 5] and [2] and [3]");
  EXPECT_EQ(
      columns({1, 5, 5}, {5, 0}, {1, 5}).problem(),
      "E0206 elements of 'image_shape' and 'block_shape' must be in [1, 2147483647]; found 0");
  EXPECT_EQ(columns({1, 5, 5}, {5, 5}, {1, INT64_MAX}).problem(),
            "E0206 elements of 'image_shape' and 'block_shape' must be in [1, 2147483647]; found "
            "9223372036854775807");
  const std::string sentence = "E0206 input 'input' must be [batch, channels * elements of a "
                               "block, number of blocks]; found ";
  EXPECT_EQ(columns({1, 5, 4}, {5, 5}, {1, 5}).problem(),
            sentence + "[1 5 4] for blocks [1 5] at [5 1] positions");
  EXPECT_EQ(columns({1, 6, 5}, {5, 5}, {1, 5}).problem(),
            sentence + "[1 6 5] for blocks [1 5] at [5 1] positions");
  EXPECT_EQ(columns({5, 5}, {5, 5}, {1, 5}).problem(),
            sentence + "[5 5] for blocks [1 5] at [5 1] positions");
  EXPECT_EQ(columns({1, 6, 5}, {5, 5}, {1, 6}).problem(),
            sentence + "[1 6 5] for blocks [1 6] at [5 0] positions");
}

TEST(Col2Im, RefusesStridesAndSizes) {
  EXPECT_EQ(columns({1, 5, 5}, {5, 5}, {1, 5}).with("strides", Ints{0, 1}).problem(),
            "E0206 attribute 'strides' must have one element per spatial axis, in [1, 2147483647]; "
            "found [0 1] for 2 axes");
  EXPECT_EQ(columns({1, 5, 5}, {5, 5}, {1, 5}).with("dilations", Ints{1}).problem(),
            "E0206 attribute 'dilations' must have one element per spatial axis, in [1, "
            "2147483647]; found [1] for 2 axes");
  EXPECT_EQ(columns({1, 5, 5}, {5, 5}, {1, 5}).with("pads", Ints{0, 0, -1, 0}).problem(),
            "E0206 attribute 'pads' must have two elements per spatial axis, in [0, 2147483647]; "
            "found [0 0 -1 0] for 2 axes");
  EXPECT_EQ(columns({1, 1, 1 << 30}, {1 << 30}, {1}).problem(),
            "E0205 the image must have at most 16777216 elements; found [1073741824]");
  EXPECT_EQ(columns({1, 1025, 1}, {1025}, {1025}).problem(),
            "E0205 at most 1024 blocks must overlap along an axis; found 1025");
}

TEST(Col2Im, OfKnownIntegersIsExact) {
  const auto over = [](int type) {
    return known(
        One("Col2Im").ints({1, 2, 3}, {1, 2, 3, 100, 120, 7}, type).ints({1}, {4}).ints({1}, {2}));
  };
  EXPECT_EQ(over(TensorProto::INT64).shape, (Ints{1, 1, 4}));
  EXPECT_EQ(over(TensorProto::INT64).values, (Doubles{1, 102, 123, 7}));
  EXPECT_EQ(over(TensorProto::INT8).values, (Doubles{1, 102, 123, 7}));
  EXPECT_EQ(known(One("Col2Im")
                      .ints({1, 2, 2}, {1, 100, 100, 2}, TensorProto::INT8)
                      .ints({1}, {3})
                      .ints({1}, {2}))
                .values,
            (Doubles{1, -56, 2}));
}

TEST(CenterCropPad, RefusesOtherAxes) {
  const auto over = [](const Ints &shape) {
    return One("CenterCropPad").input({4, 6}).ints({static_cast<int64_t>(shape.size())}, shape);
  };
  EXPECT_EQ(over({2, 8}).problem(), "");
  EXPECT_EQ(over({2, 0}).problem(), "E0206 input 'shape' must have one element per axis, in [1, "
                                    "2147483647]; found [2 0] for 2 axes");
  EXPECT_EQ(over({2}).problem(), "E0206 input 'shape' must have one element per axis, in [1, "
                                 "2147483647]; found [2] for 2 axes");
  EXPECT_EQ(over({2, 8}).with("axes", Ints{0, -2}).problem(),
            "E0206 attribute 'axes', if given, must be distinct axes of 'input_data'; found axis "
            "-2 twice");
  EXPECT_EQ(over({2, 8}).with("axes", Ints{0, 2}).problem(),
            "E0206 attribute 'axes', if given, must be distinct axes of 'input_data'; found axis 2 "
            "for rank 2");
  const reference::Tensor y =
      known(One("CenterCropPad").ints({2, 3}, {1, 2, 3, 4, 5, 6}).ints({2}, {3, 2}));
  EXPECT_EQ(y.shape, (Ints{3, 2}));
  EXPECT_EQ(y.values, (Doubles{1, 2, 4, 5, 0, 0}));
}

TEST(AffineGrid, RefusesShapes) {
  const auto over = [](const Ints &theta, const Ints &size) {
    return One("AffineGrid", 20)
        .input(theta)
        .ints({static_cast<int64_t>(size.size())}, size)
        .problem();
  };
  EXPECT_EQ(over({1, 2, 3}, {1, 3, 4, 4}), "");
  EXPECT_EQ(over({1, 2, 3}, {1, 3, 4}), "E0206 input 'size' must have 4 or 5 elements of at least "
                                        "1: batch, channels and spatial axes; found [1 3 4]");
  EXPECT_EQ(over({1, 2, 3}, {1, 3, 0, 4}),
            "E0206 input 'size' must have 4 or 5 elements of at least 1: batch, channels and "
            "spatial axes; found [1 3 0 4]");
  EXPECT_EQ(over({1, 2, 3}, {1, 3, 4, 4, 4}),
            "E0206 input 'theta' must be [batch 2 3], or [batch 3 4] for 3 spatial axes; found [1 "
            "2 3] for size [1 3 4 4 4]");
  EXPECT_EQ(over({1, 2, 3}, {1, 3, 1 << 20, 1 << 20}),
            "E0205 the grids must have at most 16777216 positions; found [1 3 1048576 1048576]");
}

TEST(AffineGrid, IsKnownWhereTheMapIs) {
  const reference::Tensor y = known(One("AffineGrid", 20)
                                        .floats({1, 2, 3}, {1, 0, 0.5F, 0, 2, 0})
                                        .ints({4}, {1, 1, 2, 1})
                                        .with("align_corners", int64_t{1}));
  EXPECT_EQ(y.shape, (Ints{1, 2, 1, 2}));
  EXPECT_EQ(y.values, (Doubles{0.5, -2, 0.5, 2}));
}

One cache(const Ints &places, const char *mode, const Ints &update = {2, 3, 4}) {
  return One("TensorScatter", 24)
      .input({2, 6, 4})
      .input(update)
      .ints({static_cast<int64_t>(places.size())}, places)
      .with("mode", mode);
}

TEST(TensorScatter, RefusesPlacesWithoutRoom) {
  EXPECT_EQ(cache({3, 0}, "linear").problem(), "");
  EXPECT_EQ(cache({5, 0}, "circular").problem(), "");
  const std::string sentence =
      "E0206 'write_indices', if given, must have one element per batch, in [0, extent - update] "
      "of 'axis' (linear) or [0, extent - 1] (circular); found ";
  EXPECT_EQ(cache({4, 0}, "linear").problem(), sentence + "4, expected [0, 3]");
  EXPECT_EQ(cache({6, 0}, "circular").problem(), sentence + "6, expected [0, 5]");
  EXPECT_EQ(cache({0, -1}, "circular").problem(), sentence + "-1, expected [0, 5]");
  EXPECT_EQ(cache({0}, "linear").problem(), sentence + "[2 6 4] and [2 3 4] and [1]");
  EXPECT_EQ(cache({0, 0}, "round").problem(),
            "E0206 attribute 'mode' must be 'linear' or 'circular'; found 'round'");
  EXPECT_EQ(cache({0, 0}, "linear").with("axis", int64_t{0}).problem(),
            "E0206 attribute 'axis' must be an axis of 'past_cache' other than the first; found "
            "axis 0 for rank 3");
  EXPECT_EQ(cache({0, 0}, "linear", {2, 7, 4}).problem(),
            "E0206 'update' must match 'past_cache' in type and shape, except that 'axis' may be "
            "shorter (at least 1); found float [2 7 4] for float [2 6 4]");
  EXPECT_EQ(One("TensorScatter", 24).input({2, 6, 4}).input({2, 1, 4}).input({2}).problem(),
            "E0205 input 'write_indices' must be int32 or int64; found float");
}

TEST(TensorScatter, OfKnownIntegers) {
  EXPECT_EQ(known(One("TensorScatter", 24)
                      .ints({1, 4, 1}, {1, 2, 3, 4})
                      .ints({1, 2, 1}, {8, 9})
                      .ints({1}, {3})
                      .with("mode", "circular"))
                .values,
            (Doubles{9, 2, 3, 8}));
}

One deformed(const Ints &offset, const Ints &mask) {
  return One("DeformConv", 19)
      .input({1, 4, 5, 5})
      .input({2, 4, 2, 2})
      .input(offset)
      .none()
      .input(mask);
}

TEST(DeformConv, RefusesOffsetsOfOtherPlaces) {
  EXPECT_EQ(deformed({1, 8, 4, 4}, {1, 4, 4, 4}).problem(), "");
  const std::string sentence = "E0206 'offset' must be [batch, groups * window * axes, ...], and "
                               "'mask' [batch, groups * window, ...]; found ";
  EXPECT_EQ(deformed({1, 8, 5, 5}, {1, 4, 4, 4}).problem(),
            sentence + "'offset' [1 8 5 5], expected [1 8 4 4]");
  EXPECT_EQ(deformed({1, 8, 4, 4}, {1, 8, 4, 4}).problem(),
            sentence + "'mask' [1 8 4 4], expected [1 4 4 4]");
  EXPECT_EQ(
      deformed({1, 8, 4, 4}, {1, 4, 4, 4}).with("offset_group", int64_t{3}).problem(),
      "E0206 attribute 'offset_group' must divide the channels of 'X'; found 3 for 4 channels");
  EXPECT_EQ(One("DeformConv", 19)
                .input({1, 1, 300, 300})
                .input({1, 1, 1, 1})
                .input({1, 2, 300, 300})
                .problem(),
            "E0205 there must be at most 16777216 weights: elements per channel of 'X' times "
            "elements of 'mask'; found [1 1 300 300] and [1 1 1 1] and [1 2 300 300]");
}

TEST(MaxRoiPool, RefusesRegionsAtRunTime) {
  const auto over = [](const Floats &region, const Ints &shape) {
    return One("MaxRoiPool", 13)
        .input({2, 1, 4, 4})
        .floats({1, 5}, region)
        .with("pooled_shape", shape)
        .problem();
  };
  EXPECT_EQ(over({1, 0, 0, 3, 3}, {2, 2}), "");
  EXPECT_EQ(over({2, 0, 0, 3, 3}, {2, 2}),
            "E0206 'rois' must be finite, and each must start with an image index in [0, batch-1] "
            "of 'X'; found 2 for batch 2");
  EXPECT_EQ(over({1, 0, 0, INFINITY, 3}, {2, 2}),
            "E0206 'rois' must be finite, and each must start with an image index in [0, batch-1] "
            "of 'X'; found inf");
  EXPECT_EQ(over({1, 0, 0, 3, 3}, {2}), "E0206 'pooled_shape' must have two elements of at least "
                                        "1, and 'spatial_scale' must be finite; found [2] and 1");
  EXPECT_EQ(over({1, 0, 0, 3, 3}, {1 << 10, 1 << 10}),
            "E0205 there must be at most 65536 bins; found [1024 1024 1]");
  EXPECT_EQ(One("MaxRoiPool", 13)
                .input({2, 1, 4, 4})
                .floats({5}, {0, 0, 0, 1, 1})
                .with("pooled_shape", Ints{1, 1})
                .problem(),
            "E0206 input 'X' must have rank 4, and 'rois' must be [regions 5] with at least one "
            "region; found [2 1 4 4] and [5]");
  EXPECT_EQ(One("MaxRoiPool", 13)
                .input({2, 1, 4, 4})
                .input({1, 5})
                .with("pooled_shape", Ints{1, 1})
                .problem(),
            "E0205 input 'rois' must be known at compile time (a constant, or computed from "
            "constants and shapes); found a run-time tensor float [1 5]");
}

TEST(BitCast, OfKnownElements) {
  const auto from = [](const Ints &x, int type, int64_t to) {
    return known(One("BitCast", 26).ints({static_cast<int64_t>(x.size())}, x, type).with("to", to))
        .values;
  };
  EXPECT_EQ(from({0x3F800000, -0x40000000}, TensorProto::INT32, TensorProto::FLOAT),
            (Doubles{1, -2}));
  EXPECT_EQ(from({0x3C00, -0x4000}, TensorProto::INT16, TensorProto::FLOAT16), (Doubles{1, -2}));
  EXPECT_EQ(from({0x3F80, -0x4000}, TensorProto::INT16, TensorProto::BFLOAT16), (Doubles{1, -2}));
  EXPECT_EQ(from({-1, 5}, TensorProto::INT8, TensorProto::UINT8), (Doubles{255, 5}));
  EXPECT_EQ(
      known(One("BitCast", 26).floats({2}, {1, -2}).with("to", int64_t{TensorProto::INT32})).values,
      (Doubles{0x3F800000, -0x40000000}));
  EXPECT_EQ(One("BitCast", 26).ints({1}, {1}).with("to", int64_t{TensorProto::FLOAT}).problem(),
            "E0206 both types must have the same number of bits; found int64 and float");
  EXPECT_EQ(One("BitCast", 26).ints({1}, {1}).with("to", int64_t{TensorProto::DOUBLE}).problem(),
            "E0205 input type and attribute 'to' must be integer, float, float16 or bfloat16 "
            "types; found 'to' 11");
  EXPECT_EQ(One("BitCast", 26).input({1}).with("to", int64_t{TensorProto::INT32}).problem(),
            "E0205 input 'input' must be known at compile time (a constant, or computed from "
            "constants and shapes); found a run-time tensor float [1]");
}

} // namespace
} // namespace sluice::frontend::test
