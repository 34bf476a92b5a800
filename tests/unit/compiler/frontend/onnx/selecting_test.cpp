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
            "E0206 the indices must be in [-extent, extent-1] of 'axis'; found 3 for extent 3");
  EXPECT_EQ(
      over({2, 2}, {0, 1, 1, 0}, 2),
      "E0206 attribute 'axis' must be in [-rank, rank-1] of input 'data'; found axis 2 for rank 2");
  EXPECT_EQ(over({3, 1}, {0, 0, 0}, 1),
            "E0206 'indices' must have elements, the rank of 'data', and no larger extent except "
            "along 'axis'; found [3 1] for [2 3]");
  EXPECT_EQ(One("GatherElements").input({2}).input({2}).problem(),
            "E0205 input 'indices' must be int32 or int64; found float");
}

TEST(Gather, RefusesIndicesOfRunTime) {
  const auto problem = [](bool isTableKnown) {
    Model model(18);
    if (isTableKnown)
      model.floats("table", {2, 3}, {1, 2, 3, 4, 5, 6});
    else
      model.input("table", {2, 3});
    model.input("a", {4}, TensorProto::INT64).input("b", {4}, TensorProto::INT64).output("y");
    model.node("Add", {"a", "b"}, {"sum"});
    model.node("Gather", {"table", isTableKnown ? "sum" : "a"}, {"y"});
    return import(model).messages();
  };
  const std::string sentence =
      "E0205 node 1 (Gather): Gather: input 'indices' must be known at compile time, or depend on "
      "one integer input alone, element by element, with a constant 'data'; found ";
  EXPECT_EQ(problem(true), sentence + "a run-time tensor int64 [4]");
  EXPECT_EQ(problem(false), sentence + "a run-time tensor float [2 3]");
}

TEST(GatherND, RefusesIndicesThatDoNotFit) {
  const auto over = [](const Ints &shape, const Ints &indices, int64_t batch) {
    return One("GatherND").input({2, 3}).ints(shape, indices).with("batch_dims", batch).problem();
  };
  EXPECT_EQ(over({2, 2}, {0, 1, 1, 2}, 0), "");
  EXPECT_EQ(over({2, 2}, {0, 1, 2, 2}, 0),
            "E0206 the indices must be in [-extent, extent-1] of their axes; found 2 for extent 2");
  const std::string sentence = "E0206 the last extent of 'indices' must be in [1, non-batch axes "
                               "of 'data'], with the batch of 'data'; found ";
  EXPECT_EQ(over({1, 3}, {0, 0, 0}, 0), sentence + "[1 3] for [2 3]");
  EXPECT_EQ(over({1, 1}, {0}, 1), sentence + "[1 1] for [2 3]");
  EXPECT_EQ(over({2, 1}, {0, 0}, -1), sentence + "[2 1] for [2 3]");
  EXPECT_EQ(over({}, {0}, 0), sentence + "[] for [2 3]");
}

TEST(Scatter, RefusesUpdatesThatDoNotFit) {
  EXPECT_EQ(One("ScatterElements").input({3}).ints({2}, {0, 1}).input({3}).problem(),
            "E0206 input 'updates' must have the shape of 'indices' and the type of 'data'; found "
            "float [3] for [2], and float");
  EXPECT_EQ(One("ScatterElements", 16)
                .input({3})
                .ints({2}, {0, 1})
                .input({2})
                .with("reduction", "max")
                .problem(),
            "E0206 attribute 'reduction' must be 'none', 'add' or 'mul'; found 'max'");
  EXPECT_EQ(One("ScatterND").input({3, 2}).ints({1, 1}, {0}).input({2}).problem(),
            "E0206 'updates' must have the axes of 'indices' except the last, then the axes of "
            "'data' not indexed; found [2], not [1 2]");
  EXPECT_EQ(
      One("ScatterND").input({3}).ints({1, 1}, {0}).input({1}).with("reduction", "mean").problem(),
      "E0206 attribute 'reduction' must be 'none', 'add', 'mul', 'max' or 'min'; found 'mean'");
}

TEST(Compress, RefusesConditionsThatChooseNothing) {
  const auto over = [](const Ints &condition, int type = TensorProto::BOOL) {
    return One("Compress")
        .input({2, 3})
        .ints({static_cast<int64_t>(condition.size())}, condition, type)
        .with("axis", int64_t{0})
        .problem();
  };
  const std::string sentence = "E0206 input 'condition' must be a bool vector, no longer than the "
                               "axis, with at least one true element; found ";
  EXPECT_EQ(over({0, 1}), "");
  EXPECT_EQ(over({0, 0}), sentence + "bool [2] for [2 3]");
  EXPECT_EQ(over({0, 1, 1}), sentence + "bool [3] for [2 3]");
  EXPECT_EQ(over({0, 1}, TensorProto::INT32), sentence + "int32 [2] for [2 3]");
  EXPECT_EQ(One("Compress")
                .input({2})
                .ints({1}, {1}, TensorProto::BOOL)
                .with("axis", int64_t{1})
                .problem(),
            "E0206 attribute 'axis', if given, must be in [-rank, rank-1] of input 'input'; found "
            "axis 1 for rank 1");
}

TEST(ReverseSequence, RefusesLengthsThatAreNone) {
  EXPECT_EQ(One("ReverseSequence").input({2, 3}).ints({3}, {1, 2, 3}).problem(),
            "E0206 'sequence_lens' must have one element per batch, in [0, extent of 'time_axis']; "
            "found 3 for extent 2");
  EXPECT_EQ(One("ReverseSequence").input({2, 3}).ints({2}, {1, 2}).problem(),
            "E0206 'sequence_lens' must have one element per batch, in [0, extent of 'time_axis']; "
            "found [2] for [2 3]");
  EXPECT_EQ(One("ReverseSequence")
                .input({2, 3})
                .ints({3}, {1, 2, 2})
                .with("time_axis", int64_t{1})
                .problem(),
            "E0206 input 'input' must have rank 2 or more, and 'batch_axis' and 'time_axis' must "
            "differ; found [2 3], axes 1 and 1");
}

TEST(OneHot, RefusesDepthsBeyondTheMachine) {
  const auto over = [](One one) { return one.floats({2}, {0, 1}).problem(); };
  const std::string sentence = "E0205 input 'depth' must be one whole number in [1, 256], the "
                               "range of exact bf16 integers; found ";
  EXPECT_EQ(over(One("OneHot").input({2}).ints({}, {256})), "");
  EXPECT_EQ(over(One("OneHot").input({2}).ints({}, {257})), sentence + "257");
  EXPECT_EQ(over(One("OneHot").input({2}).floats({1}, {2.5F})), sentence + "2.5");
  EXPECT_EQ(over(One("OneHot").input({2}).ints({2}, {3, 3})), sentence + "shape [2]");
  EXPECT_EQ(One("OneHot").input({2}).ints({}, {3}).floats({1}, {0}).problem(),
            "E0206 input 'values' must have two elements; found [1]");
  EXPECT_EQ(over(One("OneHot").input({2}).ints({}, {3}).with("axis", int64_t{2})),
            "E0206 attribute 'axis' must be in [-rank-1, rank] of input 'indices'; found axis 2 "
            "for rank 2");
}

TEST(TopK, RefusesMoreThanThereIs) {
  const auto over = [](const Ints &x, const Ints &k) {
    return One("TopK").input(x).ints({static_cast<int64_t>(k.size())}, k).problem();
  };
  EXPECT_EQ(over({2, 3}, {3}), "");
  EXPECT_EQ(
      over({2, 3}, {4}),
      "E0206 'k' must be a single number from 1 to the extent of 'axis'; found 4 for extent 3");
  EXPECT_EQ(
      over({2, 3}, {0}),
      "E0206 'k' must be a single number from 1 to the extent of 'axis'; found 0 for extent 3");
  EXPECT_EQ(over({2, 3}, {1, 1}),
            "E0206 'k' must be a single number from 1 to the extent of 'axis'; found shape [2]");
  EXPECT_EQ(over({31617}, {1}),
            "E0205 at run time 'axis' must have at most 31616 elements; found 31617");
  EXPECT_EQ(One("Hardmax").input({31617}).problem(),
            "E0205 at run time 'axis' must have at most 31616 elements; found 31617");
  EXPECT_EQ(One("Hardmax", 11).input({1, 2, 15809}).problem(),
            "E0205 at run time the axes from 'axis' on must have at most 31616 elements; found "
            "31618");
}

TEST(Losses, RefuseLabelsThatAreNone) {
  const auto over = [](const Ints &labels, const Floats &weights = {1, 1, 1}) {
    return One("NegativeLogLikelihoodLoss")
        .input({2, 3})
        .ints({static_cast<int64_t>(labels.size())}, labels)
        .floats({static_cast<int64_t>(weights.size())}, weights);
  };
  EXPECT_EQ(over({0, 2}).problem(), "");
  EXPECT_EQ(over({0, 3}).problem(), "E0206 every element of input 'target' must be in [0, "
                                    "classes-1], or 'ignore_index'; found 3 for 3 classes");
  EXPECT_EQ(over({0, 3}).with("ignore_index", int64_t{3}).problem(), "");
  EXPECT_EQ(over({3, 3}).with("ignore_index", int64_t{3}).problem(),
            "E0206 the weights of a mean must not add up to 0; found 0");
  EXPECT_EQ(over({0, 1, 2}).problem(), "E0206 input 'input' must have rank 2 or more; 'target' "
                                       "must have its shape without axis 1; found [2 3] and [3]");
  EXPECT_EQ(over({0, 1}, {1, 1}).problem(),
            "E0206 input 'weight' must have one element per class; found [2] for 3 classes");
  EXPECT_EQ(over({0, 1}).with("reduction", "max").problem(),
            "E0206 attribute 'reduction' must be 'none', 'mean' or 'sum'; found 'max'");
  EXPECT_EQ(One("SoftmaxCrossEntropyLoss").input({2}).ints({2}, {0, 0}).problem(),
            "E0206 input 'scores' must have rank 2 or more; 'labels' must have its shape without "
            "axis 1; found [2] and [2]");
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
      "E0206 either 'scales' or 'sizes' must be given, with one element per resized axis; found ";
  EXPECT_EQ(resize({}).problem(), one + "0 scales and 0 sizes for 4 axes");
  EXPECT_EQ(resize({1, 1, 2, 2}, {1, 1, 8, 8}).problem(), one + "4 scales and 4 sizes for 4 axes");
  EXPECT_EQ(resize({2, 2}).problem(), one + "2 scales and 0 sizes for 4 axes");
  EXPECT_EQ(resize({2, 2}).with("axes", Ints{2, 3}).problem(), "");
  EXPECT_EQ(resize({2, 2}).with("axes", Ints{2, 2}).problem(),
            "E0206 attribute 'axes' must be distinct axes of 'X'; found axis 2 twice");
  EXPECT_EQ(resize({1, 1, 0, 2}).problem(),
            "E0206 'scales' must be finite and above 0, and 'sizes' at least 1; found 0");
  EXPECT_EQ(resize({}, {1, 1, -3, 2}).problem(),
            "E0206 'scales' must be finite and above 0, and 'sizes' at least 1; found -3");
  EXPECT_EQ(resize({1, 1, 0.1F, 2}).problem(), "E0206 the result must have extents of at least 1 "
                                               "and at most 2147483647 elements; found [1 1 0 8]");
  EXPECT_EQ(resize({1, 1, 2, 2}).with("mode", "area").problem(),
            "E0206 attribute 'mode' must be nearest, linear or cubic; found 'area'");
  EXPECT_EQ(resize({1, 1, 2, 2}).with("nearest_mode", "up").problem(),
            "E0206 attribute 'nearest_mode' must be round_prefer_floor, round_prefer_ceil, floor "
            "or ceil; found 'up'");
  EXPECT_EQ(
      resize({1, 1, 2, 2}).with("coordinate_transformation_mode", "tf_crop_and_resize").problem(),
      "E0206 'roi' must have two elements per resized axis; only 'tf_crop_and_resize' requires it; "
      "found 0 for 4 axes");
}

} // namespace
} // namespace sluice::frontend::test
