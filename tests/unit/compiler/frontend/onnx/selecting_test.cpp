// Operators that choose elements by indices or by order: what is refused, word for word. The
// values are tested on the engines (tests/ops).
#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using One = OneNodeModel;
using onnx::TensorProto;

TEST(GatherElements, RefusesIndicesThatDoNotFit) {
  const auto over = [](const Ints &shape, const Ints &indices, int64_t axis) {
    return One("GatherElements").input({2, 3}).ints(shape, indices).with("axis", axis).problem();
  };
  EXPECT_EQ(over({2, 2}, {0, 1, 1, 2}, 1), "");
  EXPECT_EQ(over({2, 2}, {0, 1, 1, 3}, 1),
            "E0206 the indices are in [-extent, extent-1] of 'axis'; found 3 at extent 3");
  EXPECT_EQ(over({2, 2}, {0, 1, 1, 0}, 2),
            "E0206 attribute 'axis' is in [-rank, rank-1] of input 'data'; found axis 2 at rank 2");
  EXPECT_EQ(over({3, 1}, {0, 0, 0}, 1),
            "E0206 input 'indices' has the rank of 'data', at least one element, and no larger "
            "extents but along 'axis'; found [3 1] for [2 3]");
  EXPECT_EQ(One("GatherElements").input({2}).input({2}).problem(),
            "E0205 input 'indices' is int32 or int64; found float");
}

TEST(GatherND, RefusesIndicesThatDoNotFit) {
  const auto over = [](const Ints &shape, const Ints &indices, int64_t batch) {
    return One("GatherND").input({2, 3}).ints(shape, indices).with("batch_dims", batch).problem();
  };
  EXPECT_EQ(over({2, 2}, {0, 1, 1, 2}, 0), "");
  EXPECT_EQ(over({2, 2}, {0, 1, 2, 2}, 0),
            "E0206 the indices are in [-extent, extent-1] of their axes; found 2 at extent 2");
  const std::string sentence =
      "E0206 the last extent of input 'indices' is at least 1, and 'data' has as many axes behind "
      "those of the batch, which both share; found ";
  EXPECT_EQ(over({1, 3}, {0, 0, 0}, 0), sentence + "[1 3] for [2 3]");
  EXPECT_EQ(over({1, 1}, {0}, 1), sentence + "[1 1] for [2 3]");
  EXPECT_EQ(over({2, 1}, {0, 0}, -1), sentence + "[2 1] for [2 3]");
  EXPECT_EQ(over({}, {0}, 0), sentence + "[] for [2 3]");
}

TEST(Scatter, RefusesUpdatesThatDoNotFit) {
  EXPECT_EQ(One("ScatterElements").input({3}).ints({2}, {0, 1}).input({3}).problem(),
            "E0206 input 'updates' has the shape of 'indices' and the type of 'data'; found float "
            "[3] for [2], and float");
  EXPECT_EQ(One("ScatterElements", 16)
                .input({3})
                .ints({2}, {0, 1})
                .input({2})
                .with("reduction", "max")
                .problem(),
            "E0206 attribute 'reduction' is 'none', 'add' or 'mul'; found 'max'");
  EXPECT_EQ(One("ScatterND").input({3, 2}).ints({1, 1}, {0}).input({2}).problem(),
            "E0206 input 'updates' has the axes of 'indices' before the last, then those of 'data' "
            "that are not indexed; found [2], not [1 2]");
  EXPECT_EQ(
      One("ScatterND").input({3}).ints({1, 1}, {0}).input({1}).with("reduction", "mean").problem(),
      "E0206 attribute 'reduction' is 'none', 'add', 'mul', 'max' or 'min'; found 'mean'");
}

TEST(Compress, RefusesConditionsThatChooseNothing) {
  const auto over = [](const Ints &condition, int type = TensorProto::BOOL) {
    return One("Compress")
        .input({2, 3})
        .ints({static_cast<int64_t>(condition.size())}, condition, type)
        .with("axis", int64_t{0})
        .problem();
  };
  const std::string sentence =
      "E0206 input 'condition' is bool, has rank 1 and no more elements than there are to choose "
      "from, one of them true; found ";
  EXPECT_EQ(over({0, 1}), "");
  EXPECT_EQ(over({0, 0}), sentence + "bool [2] for [2 3]");
  EXPECT_EQ(over({0, 1, 1}), sentence + "bool [3] for [2 3]");
  EXPECT_EQ(over({0, 1}, TensorProto::INT32), sentence + "int32 [2] for [2 3]");
  EXPECT_EQ(
      One("Compress")
          .input({2})
          .ints({1}, {1}, TensorProto::BOOL)
          .with("axis", int64_t{1})
          .problem(),
      "E0206 attribute 'axis', if given, is in [-rank, rank-1] of input 'input'; found axis 1 at "
      "rank 1");
}

TEST(ReverseSequence, RefusesLengthsThatAreNone) {
  EXPECT_EQ(One("ReverseSequence").input({2, 3}).ints({3}, {1, 2, 3}).problem(),
            "E0206 input 'sequence_lens' has one element per batch, in [0, extent of 'time_axis']; "
            "found 3 of 2");
  EXPECT_EQ(One("ReverseSequence").input({2, 3}).ints({2}, {1, 2}).problem(),
            "E0206 input 'sequence_lens' has one element per batch, in [0, extent of 'time_axis']; "
            "found [2] for [2 3]");
  EXPECT_EQ(
      One("ReverseSequence")
          .input({2, 3})
          .ints({3}, {1, 2, 2})
          .with("time_axis", int64_t{1})
          .problem(),
      "E0206 input 'input' has rank 2 or more, and 'batch_axis' is not 'time_axis'; found [2 3], "
      "axes 1 and 1");
}

TEST(OneHot, RefusesDepthsBeyondTheMachine) {
  const auto over = [](One one) { return one.floats({2}, {0, 1}).problem(); };
  const std::string sentence =
      "E0205 input 'depth' is one whole number in [1, 256], up to which bf16 has every integer; "
      "found ";
  EXPECT_EQ(over(One("OneHot").input({2}).ints({}, {256})), "");
  EXPECT_EQ(over(One("OneHot").input({2}).ints({}, {257})), sentence + "257");
  EXPECT_EQ(over(One("OneHot").input({2}).floats({1}, {2.5F})), sentence + "2.5");
  EXPECT_EQ(over(One("OneHot").input({2}).ints({2}, {3, 3})), sentence + "the shape [2]");
  EXPECT_EQ(One("OneHot").input({2}).ints({}, {3}).floats({1}, {0}).problem(),
            "E0206 input 'values' has two elements; found [1]");
  EXPECT_EQ(over(One("OneHot").input({2}).ints({}, {3}).with("axis", int64_t{2})),
            "E0206 attribute 'axis' is in [-rank-1, rank] of input 'indices'; found axis 2 at rank "
            "2");
}

TEST(TopK, RefusesMoreThanThereIs) {
  const auto over = [](const Ints &x, const Ints &k) {
    return One("TopK").input(x).ints({static_cast<int64_t>(k.size())}, k).problem();
  };
  EXPECT_EQ(over({2, 3}, {3}), "");
  EXPECT_EQ(over({2, 3}, {4}), "E0206 'k' is one number in [1, extent of 'axis']; found 4 of 3");
  EXPECT_EQ(over({2, 3}, {0}), "E0206 'k' is one number in [1, extent of 'axis']; found 0 of 3");
  EXPECT_EQ(over({2, 3}, {1, 1}),
            "E0206 'k' is one number in [1, extent of 'axis']; found the shape [2]");
  EXPECT_EQ(over({257}, {1}), "E0205 'axis' has at most 256 elements, up to which bf16 has every "
                              "integer, or 'X' is known at import; found 257");
  EXPECT_EQ(One("Hardmax").input({257}).problem(),
            "E0205 it is over at most 256 elements, up to which bf16 has every integer; found 257");
}

TEST(Losses, RefuseLabelsThatAreNone) {
  const auto over = [](const Ints &labels, const Floats &weights = {1, 1, 1}) {
    return One("NegativeLogLikelihoodLoss")
        .input({2, 3})
        .ints({static_cast<int64_t>(labels.size())}, labels)
        .floats({static_cast<int64_t>(weights.size())}, weights);
  };
  EXPECT_EQ(over({0, 2}).problem(), "");
  EXPECT_EQ(over({0, 3}).problem(),
            "E0206 every element of input 'target' is in [0, classes-1], or "
            "is 'ignore_index'; found 3 of 3 classes");
  EXPECT_EQ(over({0, 3}).with("ignore_index", int64_t{3}).problem(), "");
  EXPECT_EQ(over({3, 3}).with("ignore_index", int64_t{3}).problem(),
            "E0206 the mean is over weights that do not add up to 0; found 0");
  EXPECT_EQ(over({0, 1, 2}).problem(),
            "E0206 input 'input' has rank 2 or more, and 'target' its shape without axis 1; found "
            "[2 3] and [3]");
  EXPECT_EQ(over({0, 1}, {1, 1}).problem(),
            "E0206 input 'weight' has one element per class; found [2] for 3 classes");
  EXPECT_EQ(over({0, 1}).with("reduction", "max").problem(),
            "E0206 attribute 'reduction' is 'none', 'mean' or 'sum'; found 'max'");
  EXPECT_EQ(One("SoftmaxCrossEntropyLoss").input({2}).ints({2}, {0, 0}).problem(),
            "E0206 input 'scores' has rank 2 or more, and 'labels' its shape without axis 1; found "
            "[2] and [2]");
}

One resize(const Floats &scales, const Ints &sizes = {}) {
  One one("Resize");
  one.input({1, 1, 4, 4}).none();
  one.floats({static_cast<int64_t>(scales.size())}, scales);
  if (!sizes.empty())
    one.ints({static_cast<int64_t>(sizes.size())}, sizes);
  return one;
}

TEST(Resize, RefusesWhatContradictsItself) {
  EXPECT_EQ(resize({1, 1, 2, 2}).problem(), "");
  const std::string one =
      "E0206 exactly one of 'scales' and 'sizes' is given, with one element per "
      "resized axis; found ";
  EXPECT_EQ(resize({}).problem(), one + "0 and 0 for 4 axes");
  EXPECT_EQ(resize({1, 1, 2, 2}, {1, 1, 8, 8}).problem(), one + "4 and 4 for 4 axes");
  EXPECT_EQ(resize({2, 2}).problem(), one + "2 and 0 for 4 axes");
  EXPECT_EQ(resize({2, 2}).with("axes", Ints{2, 3}).problem(), "");
  EXPECT_EQ(resize({2, 2}).with("axes", Ints{2, 2}).problem(),
            "E0206 attribute 'axes' are distinct axes of 'X'; found axis 2 twice");
  EXPECT_EQ(resize({1, 1, 0, 2}).problem(),
            "E0206 'scales' are above 0, and 'sizes' at least 1; found 0");
  EXPECT_EQ(resize({}, {1, 1, -3, 2}).problem(),
            "E0206 'scales' are above 0, and 'sizes' at least 1; found -3");
  EXPECT_EQ(
      resize({1, 1, 0.1F, 2}).problem(),
      "E0206 every extent of the result is at least 1, and it has at most 2147483647 elements; "
      "found [1 1 0 8]");
  EXPECT_EQ(resize({1, 1, 2, 2}).with("mode", "area").problem(),
            "E0206 attribute 'mode' is nearest, linear or cubic; found 'area'");
  EXPECT_EQ(
      resize({1, 1, 2, 2}).with("nearest_mode", "up").problem(),
      "E0206 attribute 'nearest_mode' is round_prefer_floor, round_prefer_ceil, floor or ceil; "
      "found 'up'");
  EXPECT_EQ(
      resize({1, 1, 2, 2}).with("coordinate_transformation_mode", "tf_crop_and_resize").problem(),
      "E0206 'roi', if given, has two elements per resized axis, and is given where the "
      "coordinates "
      "are 'tf_crop_and_resize'; found 0 for 4 axes");
}

} // namespace
} // namespace sluice::frontend::test
