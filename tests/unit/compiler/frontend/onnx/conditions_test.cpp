// Conditions of the support table, each broken by a node that breaks no other before it.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using One = OneNodeModel;
using onnx::TensorProto;

struct Case {
  One node;
  const char *problem; ///< what its import says
};

void check(const std::vector<Case> &cases) {
  for (const Case &one : cases)
    EXPECT_EQ(one.node.problem(), one.problem);
}

Floats zeros(int64_t count) { return Floats(static_cast<size_t>(count), 0); }
Ints ones(int64_t count) { return Ints(static_cast<size_t>(count), 1); }

/// A node whose first input are integers of any size that the program has of a float.
One ofIntegers(const char *op, const Ints &shape, int64_t opset = 18) {
  One one(op, opset);
  one.input(shape);
  one.model.node("Cast", {"i0"}, {"n"}).attribute("to", int64_t{TensorProto::INT64});
  one.model.graph().mutable_node(0)->set_input(0, "n");
  return one;
}

TEST(Conditions, OfOperandsThatAreSpread) {
  for (const char *op : {"And", "Or"}) {
    const auto logic = [op](const Ints &other) {
      return One(op, 6)
          .ints({2, 3}, ones(6), TensorProto::BOOL)
          .ints(other, ones(other[0]), TensorProto::BOOL);
    };
    check(
        {{logic({3}).with("broadcast", int64_t{1}), ""},
         {logic({3}), "E0206 the shapes must be equal, or, with 'broadcast' 1, input 1 have "
                      "extents of 1 or of input 0 from 'axis'; found [2 3] and [3], 'broadcast' 0"},
         {logic({3}).with("broadcast", int64_t{1}).with("axis", int64_t{0}),
          "E0206 the shapes must be equal, or, with 'broadcast' 1, input 1 have extents of 1 or of "
          "input 0 from 'axis'; found [2 3] and [3], 'broadcast' 1, 'axis' 0"}});
  }
}

TEST(Conditions, OfIntegersAtRunTime) {
  constexpr const char *kKnown =
      "E0205 integers must be known at compile time; found int64 at run time";
  check({{ofIntegers("Einsum", {2}).with("equation", "i->i"), kKnown},
         {ofIntegers("Col2Im", {1, 4, 1}).ints({2}, {2, 2}).ints({2}, {2, 2}), kKnown},
         {ofIntegers("CumProd", {4}, 26).ints({}, {0}),
          "E0205 integers computed at run time must fit their type and lie in [-256, 256], where "
          "bf16 is exact; found int64 of any value"},
         {ofIntegers("ScatterND", {4}).ints({1, 1}, {0}).ints({1}, {7}).with("reduction", "add"),
          "E0205 run-time sums and products of integers must fit their type and lie in [-256, "
          "256], where bf16 is exact; found int64 of any value"},
         {One("CastLike").input({2}).ints({1}, {0}, TensorProto::UINT8), ""},
         {One("CastLike").input({2}).ints({1}, {0}, TensorProto::UINT16),
          "E0205 casts at run time must be to a float type, int32, int64 or bool, or from floats "
          "to int8 or uint8; found float to uint16"},
         {One("ArgMin").input({256}), ""},
         {One("ArgMin").input({31617}),
          "E0205 at run time 'axis' must have at most 31616 elements; found 31617"}});
}

TEST(Conditions, OfSignals) {
  for (const char *op : {"HannWindow", "HammingWindow", "BlackmanWindow"})
    check({{One(op).ints({2}, {4, 4}), "E0206 every input must have one element; found [2]"},
           {One(op).ints({}, {-1}), "E0206 input 'size' must be in [0, 16777216]; found -1"},
           {One(op).ints({}, {268435457}),
            "E0206 input 'size' must be in [0, 16777216]; found 268435457"}});
  check({{One("STFT").input({1, 8192, 1}).ints({}, {1}).none().ints({}, {8192}),
          "E0205 the transform matrix must have at most 16777216 elements; found 8192 points"}});
}

/// A convolution over [1, 1, 4] with a window of 2, whose inputs are given as each operator has
/// them.
struct Convolution {
  const char *op;
  Ints x = {1, 1, 4}, w = {1, 1, 2};
  int64_t opset = 18;

  One node() const {
    const std::string name = op;
    One one(name, opset);
    const int64_t weights = w[0];
    const int64_t window = w.size() > 2 ? w.back() : 1;
    const int64_t elements = x.size() > 2 ? x[1] * x.back() : x.back();
    if (name == "ConvInteger")
      return one.ints(x, ones(elements), TensorProto::UINT8)
          .ints(w, ones(weights * window), TensorProto::UINT8);
    if (name == "QLinearConv") {
      const auto scaled = [&] { one.floats({}, {1}).ints({}, {0}, TensorProto::UINT8); };
      one.ints(x, ones(elements), TensorProto::UINT8);
      scaled();
      one.ints(w, ones(weights * window), TensorProto::UINT8);
      scaled();
      scaled();
      return one;
    }
    one.input(x).floats(w, zeros(weights * window));
    if (name == "DeformConv") // as many positions as there are without a window
      one.input({1, window, x.back()});
    return one;
  }
};

TEST(Conditions, OfConvolutions) {
  for (const char *op : {"ConvInteger", "ConvTranspose", "QLinearConv"})
    check({{Convolution{op}.node(), ""},
           {Convolution{op}.node().with("auto_pad", "SAME_UPPER").with("pads", Ints{1, 1}),
            "E0206 attribute 'pads' must be left out or 0 unless 'auto_pad' is NOTSET; found [1 1] "
            "and SAME_UPPER"},
           {Convolution{op}.node().with("auto_pad", "SAME"),
            "E0206 attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID; found "
            "'SAME'"}});
  for (const char *op : {"ConvInteger", "QLinearConv"})
    check({{Convolution{op, {1, 4}}.node(), "E0206 input 'x' must have rank 3 or more: batch, "
                                            "channels and spatial axes; found [1 4]"},
           {Convolution{op, {1, 1, 4}, {1, 1}}.node(),
            "E0206 input 'w' must have the rank of 'x' and no extent 0; found [1 1] for [1 1 4]"},
           {Convolution{op, {1, 1, 4}, {1, 1, 5}}.node(),
            "E0206 the window must fit into the padded input; found a window of 5 for 4 elements "
            "along axis 2"}});
  check({{Convolution{"DeformConv", {1, 1, 4}, {1, 1, 5}, 19}.node(),
          "E0206 the window must fit into the padded input; found a window of 5 for 4 elements "
          "along axis 2"}});
  // A channel for each of 8193 groups: 8193 weights, with zeros for the other channels 8193^2.
  constexpr int64_t kGroups = 8193;
  for (const char *op : {"ConvInteger", "QLinearConv", "DeformConv"})
    check({{Convolution{op, {1, kGroups, 1}, {kGroups, 1, 1}, 19}.node().with("group", kGroups),
            "E0205 constant weights, expanded over all groups, must have at most 16777216 "
            "elements; found [8193 8193 1]"}});
}

TEST(Conditions, OfQuantisation) {
  const auto along = [](int64_t axis) {
    return One("DequantizeLinear")
        .ints({2, 3}, ones(6), TensorProto::UINT8)
        .floats({3}, {1, 1, 1})
        .with("axis", axis);
  };
  check({{along(-1), ""},
         {along(2), "E0206 attribute 'axis' must be in [-rank, rank-1] of input 'x' unless the "
                    "scale has one element; found axis 2 for rank 2"}});
}

TEST(Conditions, OfQuantisedMatrices) {
  const auto product = [](const Ints &shape, const Floats &scales) {
    One one("QLinearMatMul");
    const auto scaled = [&](const Ints &of, const Floats &by) {
      one.floats(of, by).ints({}, {0}, TensorProto::UINT8);
    };
    one.ints({2, 3}, ones(6), TensorProto::UINT8);
    scaled({}, {1});
    one.ints({3, 2}, ones(6), TensorProto::UINT8);
    scaled(shape, scales);
    scaled({}, {1});
    return one;
  };
  check({{product({2}, {1, 2}), ""},
         {product({3}, {1, 2, 3}), "E0206 input 'b_scale' must have one element, or one per column "
                                   "of 'b'; found [3] for [3 2]"}});
}

TEST(Conditions, OfNumbersThatAreGiven) {
  const auto response = [](float beta) {
    return One("LRN").input({1, 3}).with("size", int64_t{3}).with("beta", beta);
  };
  const auto mel = [](const Ints &bins) {
    return One("MelWeightMatrix")
        .ints({static_cast<int64_t>(bins.size())}, bins)
        .ints({}, {16})
        .ints({}, {8192})
        .floats({}, {0})
        .floats({}, {4096});
  };
  check({{response(0.5F), ""},
         {response(std::numeric_limits<float>::quiet_NaN()),
          "E0206 attribute 'beta' must not be NaN; found NaN"},
         {mel({8, 8}), "E0206 every input must have one element; found [2] and [] and [] and [] "
                       "and []"},
         {One("RandomNormalLike").input({16777217}).with("seed", 0.5F),
          "E0205 there must be at most 16777216 random numbers; found [16777217]"}});
}

TEST(Conditions, OfTrainingAndLosses) {
  const auto dropped = [](int64_t training) {
    return One("Dropout")
        .input({16777217})
        .floats({}, {0.5F})
        .ints({}, {training}, TensorProto::BOOL);
  };
  const auto loss = [](int64_t ignored) {
    return One("SoftmaxCrossEntropyLoss")
        .input({2, 3})
        .ints({2}, {1, 1})
        .with("ignore_index", ignored);
  };
  check({{dropped(0), ""},
         {dropped(1), "E0205 there must be at most 16777216 random numbers; found [16777217]"},
         {loss(2), ""},
         {loss(1), "E0206 the weights of a mean must not add up to 0; found 0"}});
}

/// 3 steps of 4 numbers to 5, a batch of 1; its inputs up to the biases, which are left out.
One recurrence(const char *op, int64_t gates, int64_t rows = 5) {
  return One(op)
      .input({3, 1, 4})
      .floats({1, gates * 5, 4}, zeros(gates * 20))
      .floats({1, gates * rows, 5}, zeros(gates * rows * 5))
      .none()
      .with("hidden_size", int64_t{5});
}

One halfRecurrence(const char *op, int64_t gates) {
  One one = recurrence(op, gates);
  auto &type = *one.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT16);
  return one;
}

TEST(Conditions, OfRecurrences) {
  struct Kind {
    const char *op;
    int64_t gates;
  };
  for (const auto &[op, gates] : {Kind{"RNN", 1}, Kind{"GRU", 3}, Kind{"LSTM", 4}})
    check({{recurrence(op, gates).ints({1}, {3}, TensorProto::INT32).input({1, 1, 5}), ""},
           {halfRecurrence(op, gates), "E0206 all inputs except 'sequence_lens' must have the same "
                                       "element type; found float16, float, float"},
           {recurrence(op, gates).ints({2}, {1, 1}, TensorProto::INT32),
            "E0206 input 'sequence_lens' must be [batch size]; found [2], expected [1]"},
           {recurrence(op, gates).ints({1}, {4}, TensorProto::INT32),
            "E0206 every element of input 'sequence_lens' must be in [0, steps]; found 4 for 3 "
            "steps"},
           {recurrence(op, gates).none().input({1, 2, 5}),
            "E0206 input 'initial_h' must be [directions, batch size, hidden size], with the first "
            "two "
            "exchanged for 'layout' 1; found [1 2 5], expected [1 1 5]"}});
  check({{recurrence("GRU", 3, 4), "E0206 input 'R' must be [directions, 3 * hidden size, hidden "
                                   "size]; found [1 12 5], expected [1 15 5]"}});
}

TEST(Conditions, OfTextAndShapes) {
  check(
      {{One("Reshape", 1).input({2, 3}).with("shape", Ints{3, -1}), ""},
       {One("Reshape", 1).input({2, 3}).with("shape", Ints{4}),
        "E0206 attribute 'shape' must have as many elements as 'data', with at most one -1; found "
        "[4] for [2 3], 4 elements for 6"},
       {One("TfIdfVectorizer")
            .ints({2}, {1, 2})
            .with("max_gram_length", int64_t{1})
            .with("max_skip_count", int64_t{0})
            .with("min_gram_length", int64_t{1})
            .with("mode", "TF")
            .with("ngram_counts", Ints{0})
            .with("ngram_indexes", Ints{0}),
        "E0205 attribute 'pool_int64s' must be given, and 'pool_strings' left out; found none"}});
}

TEST(Conditions, OfResizing) {
  const auto regional = [](const char *coordinates) {
    return One("Resize", 11)
        .input({1, 4})
        .floats({4}, {0, 0, 1, 1})
        .floats({2}, {1, 2})
        .with("coordinate_transformation_mode", coordinates);
  };
  check(
      {{regional("tf_half_pixel_for_nn"), ""},
       {regional("half_pixel_symmetric"),
        "E0206 attribute 'coordinate_transformation_mode' must be half_pixel, pytorch_half_pixel, "
        "align_corners, asymmetric, tf_crop_and_resize or tf_half_pixel_for_nn; found "
        "'half_pixel_symmetric'"}});
  constexpr const char *kLinear = "E0206 attribute 'mode' must be nearest or linear; found 'cubic'";
  constexpr const char *kSelected =
      "E0205 integers and bools must be resized with mode 'nearest'; found int64 with 'linear'";
  constexpr const char *kPerAxis =
      "E0206 'scales' must have one element per axis of 'X'; found 1 for 2 axes";
  constexpr const char *kPositive = "E0206 'scales' must be finite and above 0; found 0";
  constexpr const char *kExtents = "E0206 the result must have extents of at least 1 and at most "
                                   "2147483647 elements; found [1 0]";
  struct Version {
    const char *op;
    int64_t opset;
  };
  for (const auto &[op, opset] : {Version{"Upsample", 9}, Version{"Resize", 10}}) {
    const auto scaled = [op = op, opset = opset](const Floats &scales) {
      return One(op, opset).input({1, 4}).floats({static_cast<int64_t>(scales.size())}, scales);
    };
    check({{scaled({1, 2}).with("mode", "linear"), ""},
           {scaled({1, 2}).with("mode", "cubic"), kLinear},
           {ofIntegers(op, {2}, opset).floats({1}, {2}).with("mode", "linear"), kSelected},
           {scaled({2}), kPerAxis},
           {scaled({1, 0}), kPositive},
           {scaled({1, 0.1F}), kExtents}});
  }
  const auto listed = [](const Floats &scales) {
    return One("Upsample", 7).input({1, 4}).with("scales", scales);
  };
  check({{listed({1, 2}), ""},
         {listed({2}), kPerAxis},
         {listed({1, 0}), kPositive},
         {listed({1, 0.1F}), kExtents}});
  const auto image = [](const Ints &shape, float height) {
    return One("Upsample", 1).input(shape).with("height_scale", height).with("width_scale", 2.0F);
  };
  check(
      {{image({1, 1, 2, 2}, 2).with("mode", "bilinear"), ""},
       {image({1, 1, 2, 2}, 2).with("mode", "linear"),
        "E0206 attribute 'mode' must be nearest or bilinear; found 'linear'"},
       {image({1, 2, 2}, 2),
        "E0206 input 'X' must have rank 4: batch, channels, height and width; found [1 2 2]"},
       {image({1, 1, 2, 2}, -1),
        "E0206 attributes 'height_scale' and 'width_scale' must be finite and above 0; found -1"}});
}

} // namespace
} // namespace sluice::frontend::test
