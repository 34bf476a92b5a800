// Operators of signals and images that sample: what is refused, word for word. The values are
// tested on the engines (tests/ops).
#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using One = OneNodeModel;
using onnx::TensorProto;

TEST(SignalWindow, RefusesSizesAndTypes) {
  EXPECT_EQ(One("HannWindow").ints({2}, {3, 4}).problem(),
            "E0206 every input must have one element; found [2]");
  EXPECT_EQ(One("HammingWindow").ints({}, {-1}).problem(),
            "E0206 input 'size' must be in [0, 16777216]; found -1");
  EXPECT_EQ(One("BlackmanWindow").ints({}, {4}).with("output_datatype", int64_t{8}).problem(),
            "E0205 attribute 'output_datatype' must be a float or integer type; found 8 (string)");
  EXPECT_EQ(One("BlackmanWindow").ints({}, {4}).with("periodic", int64_t{2}).problem(),
            "E0203 attribute 'periodic' must be 0 or 1 (default 1); found 2");
  EXPECT_EQ(One("HannWindow").input({}).problem(),
            "E0205 input 'size' must be int32 or int64; found float");
}

TEST(MelWeightMatrix, RefusesWhatHasNoBins) {
  const auto over = [](int64_t bins, int64_t length, float low, float high) {
    return One("MelWeightMatrix")
        .ints({}, {bins})
        .ints({}, {length})
        .ints({}, {8192})
        .floats({}, {low})
        .floats({}, {high})
        .problem();
  };
  EXPECT_EQ(over(0, 16, 0, 4096),
            "E0206 'num_mel_bins', 'dft_length' and 'sample_rate' must be at least 1, and the "
            "result at most 16777216 elements; found 0, 16 and 8192");
  const std::string sentence = "E0206 'lower_edge_hertz' must be in [0, 'upper_edge_hertz'], and "
                               "the last bin peak inside the spectrum; found ";
  EXPECT_EQ(over(8, 16, 10, 5), sentence + "10 and 5");
  EXPECT_EQ(over(8, 16, 0, 90000), sentence + "0 and 90000");
  EXPECT_EQ(over(2, 8, 4700, 4700), sentence + "4700 and 4700"); // one line behind the last
  EXPECT_EQ(over(8, 16, 0, 0x1p126F), sentence + "0 and 8.507059173023462e+37");
}

TEST(Dft, RefusesAxesAndLengths) {
  const auto over = [](const Ints &shape, int64_t axis) {
    return One("DFT", 17).input(shape).with("axis", axis).problem();
  };
  EXPECT_EQ(over({2, 4, 1}, 1), "");
  EXPECT_EQ(over({2, 4, 3}, 1), "E0206 input 'input' must have rank 2 or more and last extent 1 "
                                "(real) or 2 (complex); found [2 4 3]");
  EXPECT_EQ(over({2, 4, 1}, 2),
            "E0206 'axis' must be an axis of 'input' other than the last; found axis 2 for rank 3");
  EXPECT_EQ(One("DFT", 17).input({2, 4, 1}).ints({}, {0}).problem(),
            "E0205 'dft_length' must be at least 1, and the transform matrix at most 16777216 "
            "elements; found 0 for [2 4 1]");
  EXPECT_EQ(One("DFT", 17).input({2, 4, 1}).ints({}, {int64_t{1} << 40}).problem(),
            "E0205 'dft_length' must be at least 1, and the transform matrix at most 16777216 "
            "elements; found 1099511627776 for [2 4 1]");
  EXPECT_EQ(One("DFT", 17)
                .input({2, 4, 1})
                .with("onesided", int64_t{1})
                .with("inverse", int64_t{1})
                .problem(),
            "E0206 with 'onesided' 1, 'inverse' must be 0 and the last extent of 'input' 1; found "
            "'inverse' 1 and [2 4 1]");
  EXPECT_EQ(
      One("DFT", 20).input({2, 4, 1}).none().ints({2}, {0, 1}).problem(),
      "E0206 inputs 'dft_length' and 'axis', if given, must have one element each; found [2]");
}

TEST(Stft, RefusesFramesThatDoNotFit) {
  const auto over = [](int64_t step, const Ints &window, int64_t length) {
    return One("STFT")
        .input({1, 8, 1})
        .ints({}, {step})
        .floats(window, Floats(window[0], 1.0F))
        .ints({}, {length})
        .problem();
  };
  EXPECT_EQ(over(2, {4}, 4), "");
  EXPECT_EQ(over(0, {4}, 4), "E0206 inputs 'frame_step' and 'frame_length' must have one element "
                             "each, at least 1; found [0]");
  EXPECT_EQ(over(2, {3}, 4), "E0206 'window' must be a vector of one frame's length; it or "
                             "'frame_length' must be given; found [3]");
  EXPECT_EQ(
      over(2, {9}, 9),
      "E0206 the signal must be at least as long as a frame; found frame length 9 for [1 8 1]");
  EXPECT_EQ(One("STFT").input({1, 8, 1}).ints({}, {2}).problem(),
            "E0206 'window' must be a vector of one frame's length; it or 'frame_length' must be "
            "given; found neither");
  EXPECT_EQ(One("STFT").input({1, 8, 2}).ints({}, {2}).none().ints({}, {4}).problem(),
            "E0206 with 'onesided' 1, the last extent of 'signal' must be 1; found [1 8 2]");
}

TEST(GridSample, RefusesGridsAndModes) {
  const auto over = [](const Ints &grid, const char *mode, const char *padding) {
    return One("GridSample")
        .input({1, 2, 3, 4})
        .input(grid)
        .with("mode", mode)
        .with("padding_mode", padding)
        .problem();
  };
  EXPECT_EQ(over({1, 5, 6, 2}, "bilinear", "zeros"), "");
  EXPECT_EQ(over({1, 5, 6, 3}, "bilinear", "zeros"),
            "E0206 input 'X' must have rank 4, and 'grid' must be [batch, height, width, 2]; found "
            "[1 2 3 4] and [1 5 6 3]");
  EXPECT_EQ(over({2, 5, 6, 2}, "bilinear", "zeros"),
            "E0206 input 'X' must have rank 4, and 'grid' must be [batch, height, width, 2]; found "
            "[1 2 3 4] and [2 5 6 2]");
  EXPECT_EQ(over({1, 5, 6, 2}, "cubic", "zeros"),
            "E0206 attribute 'mode' must be 'bilinear', 'nearest' or 'bicubic'; found 'cubic'");
  EXPECT_EQ(
      over({1, 5, 6, 2}, "nearest", "wrap"),
      "E0206 attribute 'padding_mode' must be 'zeros', 'border' or 'reflection'; found 'wrap'");
  EXPECT_EQ(over({1, 5, 6, 2}, "bicubic", "border"),
            "E0205 a cubic 'mode' must have 'padding_mode' 'zeros'; found 'border'");
  EXPECT_EQ(over({1, 5000, 5000, 2}, "bilinear", "zeros"),
            "E0205 there must be at most 16777216 weights: elements per channel of 'X' times "
            "positions of 'grid'; found [1 2 3 4] and [1 5000 5000 2]");
}

TEST(RoiAlign, RefusesRegionsAndModes) {
  const auto over = [](const Ints &shape, int64_t image, const char *mode = "avg") {
    return One("RoiAlign")
        .input({1, 2, 6, 6})
        .floats(shape, Floats(shape[0] * shape[1], 1.0F))
        .ints({1}, {image})
        .with("mode", mode);
  };
  EXPECT_EQ(over({1, 4}, 0).problem(), "");
  EXPECT_EQ(over({1, 5}, 0).problem(),
            "E0206 'X' must have rank 4, 'rois' the shape [regions 4] and 'batch_indices' the "
            "shape [regions], for 1 region or more; found [1 2 6 6] and [1 5] and [1]");
  EXPECT_EQ(over({1, 4}, 1).problem(), "E0206 'batch_indices' must be in [0, batch-1] of 'X', and "
                                       "'rois' must be finite; found 1 for batch 1");
  EXPECT_EQ(over({1, 4}, 0, "max").problem(), "E0205 attribute 'mode' must be 'avg'; found 'max'");
  EXPECT_EQ(over({1, 4}, 0).with("output_height", int64_t{0}).problem(),
            "E0206 'output_height' and 'output_width' must be at least 1, 'sampling_ratio' in [0, "
            "1048576], and 'spatial_scale' finite; found 0, 1, 0 and 1");
  EXPECT_EQ(over({1, 4}, 0).with("output_height", int64_t{1} << 30).problem(),
            "E0205 there must be at most 16777216 weights: pixels of an image times bins of the "
            "regions; found [1 1073741824 1 6 6]");
  EXPECT_EQ(One("RoiAlign")
                .input({1, 2, 6, 6})
                .floats({1, 4}, {0, 0, 1e30F, 1e30F})
                .ints({1}, {0})
                .with("output_height", int64_t{128})
                .problem(),
            "E0206 the bins of all regions must have at most 16777216 samples along an axis; found "
            "134217728");
  EXPECT_EQ(over({1, 4}, 0).with("coordinate_transformation_mode", "half").problem(),
            "E0206 attribute 'coordinate_transformation_mode' must be 'half_pixel' or "
            "'output_half_pixel'; found 'half'");
}

TEST(Det, RefusesLargeMatrices) {
  EXPECT_EQ(One("Det").input({2, 4, 4}).problem(), "");
  EXPECT_EQ(One("Det").input({2, 3}).problem(),
            "E0206 the last two extents of input 'X' must be equal; found [2 3]");
  EXPECT_EQ(One("Det").input({5, 5}).problem(),
            "E0205 the matrices must have 1 to 4 rows; found 5");
}

TEST(NonMaxSuppression, IsOfKnownBoxes) {
  const auto over = [](const Ints &boxes, const Ints &scores, float limit) {
    const auto elements = [](const Ints &shape) {
      size_t count = 1;
      for (const int64_t extent : shape)
        count *= extent;
      return Floats(count, 0.5F);
    };
    return One("NonMaxSuppression")
        .floats(boxes, elements(boxes))
        .floats(scores, elements(scores))
        .ints({1}, {2})
        .floats({1}, {limit})
        .problem();
  };
  EXPECT_EQ(over({1, 3, 4}, {1, 2, 4}, 0.5F),
            "E0206 input 'boxes' must be [batch boxes 4], and 'scores' [batch classes boxes]; "
            "found [1 3 4] and [1 2 4]");
  EXPECT_EQ(over({1, 3, 4}, {1, 2, 3}, 1.5F),
            "E0206 input 'iou_threshold' must be in [0, 1]; found 1.5");
  EXPECT_EQ(One("NonMaxSuppression").input({1, 3, 4}).input({1, 2, 3}).problem(),
            "E0205 input 'boxes' must be known at compile time (a constant, or computed from "
            "constants and shapes); found a run-time tensor float [1 3 4]");
}

/// Pairs of words after 'ngram_counts' words that stand alone.
One vectorizer(const Ints &counts, const Ints &indexes, int64_t most = 2) {
  return One("TfIdfVectorizer")
      .ints({4}, {5, 6, 7, 8})
      .with("max_gram_length", most)
      .with("max_skip_count", int64_t{0})
      .with("min_gram_length", int64_t{1})
      .with("mode", "TF")
      .with("ngram_counts", counts)
      .with("ngram_indexes", indexes)
      .with("pool_int64s", Ints{5, 6, 6, 7});
}

TEST(TfIdfVectorizer, RefusesPoolsThatContradictThemselves) {
  const std::string sentence =
      "E0206 'ngram_counts' must ascend from 0 to at most the size of 'pool_int64s', and "
      "'ngram_indexes' must have one element of at least 0 per n-gram; found ";
  EXPECT_EQ(vectorizer({0, 5}, {0, 1, 2}).problem(), sentence + "[0 5] and [0 1 2]");
  EXPECT_EQ(vectorizer({2, 0}, {0, 1, 2}).problem(), sentence + "[2 0] and [0 1 2]");
  EXPECT_EQ(vectorizer({0, 2}, {0, 1}).problem(), sentence + "[0 2] and [0 1]");
  EXPECT_EQ(vectorizer({0, 2}, {0, 1, -1}).problem(), sentence + "[0 2] and [0 1 -1]");
  EXPECT_EQ(
      vectorizer({0, 2}, {0, 1, int64_t{1} << 40}).problem(),
      "E0205 the result must have at most 16777216 elements; found 1 rows and index 1099511627776");
  EXPECT_EQ(vectorizer({0, 2}, {0, 1, 2}, 0).problem(),
            "E0206 'min_gram_length' must be in [1, 'max_gram_length'], 'max_skip_count' at least "
            "0, and the search at most 16777216 steps; found 1, 0 and 0");
  EXPECT_EQ(vectorizer({0, 2}, {0, 1, 2}).with("weights", Floats{1}).problem(),
            "E0206 'weights', if given, must have as many elements as 'ngram_indexes'; found 1");
}

TEST(BatchNormalization, StatisticsAreOfTraining) {
  const auto over = [](int64_t training) {
    One one("BatchNormalization", 15);
    one.input({2, 2, 3});
    for (int i = 0; i < 4; ++i)
      one.floats({2}, {1, 2});
    one.model.graph().mutable_node(0)->add_output("running_mean");
    one.model.graph().mutable_node(0)->add_output("running_var");
    return one.with("training_mode", training).problem();
  };
  EXPECT_EQ(over(1), "");
  EXPECT_EQ(over(0), "E0206 outputs 'running_mean' and 'running_var' must be used in training mode "
                     "only; found 'training_mode' 0");
}

TEST(Integers, OfPaddingsAndPoolings) {
  EXPECT_EQ(One("MaxPool", 12)
                .ints({1, 1, 4}, {1, 2, 3, 4}, TensorProto::INT32)
                .with("kernel_shape", Ints{2})
                .problem(),
            "E0206 integers must be int8 or uint8; found int32");
  EXPECT_EQ(One("Pad", 13)
                .ints({2}, {1, 2}, TensorProto::INT32)
                .ints({2}, {1, 1})
                .ints({}, {7})
                .problem(),
            "E0206 input 'constant_value' must have the type of 'data'; found int64 for int32");
  const Model padded = One("Pad", 13).ints({2}, {1, 2}).ints({2}, {1, 2}).ints({}, {7}).model;
  Model model = padded;
  model.input("unused", {1});
  EXPECT_EQ(evaluateModel(model, {{{1}, {0}}}).values, (std::vector<double>{7, 1, 2, 7, 7}));
}

} // namespace
} // namespace sluice::frontend::test
