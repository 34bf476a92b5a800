// Operators of com.microsoft: what is refused, word for word.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using onnx::TensorProto;

/// A node of com.microsoft over run-time tensors of these shapes.
OneNodeModel over(const char *op, const std::vector<Ints> &shapes) {
  OneNodeModel one(op, 17);
  auto *import = one.model.proto.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  one.model.graph().mutable_node(0)->set_domain("com.microsoft");
  for (const Ints &shape : shapes)
    one.input(shape);
  return one;
}

Floats zeros(int64_t count) { return Floats(count, 0); }

TEST(Microsoft, NamesDomainsItDoesNotKnow) {
  EXPECT_EQ(over("FusedDance", {{2}}).problem(),
            "E0201 node 0 (FusedDance): operator 'FusedDance' is not supported: `sluice ops` lists "
            "no such operator in domain 'com.microsoft'");
  OneNodeModel foreign = over("Gelu", {{2}});
  foreign.model.proto.mutable_opset_import(1)->set_domain("org.example");
  foreign.model.graph().mutable_node(0)->set_domain("org.example");
  EXPECT_EQ(foreign.problem(),
            "E0201 node 0 (Gelu): operator 'Gelu' is not supported: domain 'org.example' is not "
            "ONNX's own, and the model has no such function");
  OneNodeModel unimported = over("Gelu", {{2}});
  unimported.model.proto.mutable_opset_import()->RemoveLast();
  EXPECT_EQ(unimported.problem(), "E0202 node 0 (Gelu): operator 'Gelu' belongs to domain "
                                  "'com.microsoft', which the model does not import");
}

TEST(Microsoft, ChecksProducts) {
  EXPECT_EQ(
      over("FusedMatMul", {{2, 3}}).floats({4, 3}, zeros(12)).with("transB", int64_t{1}).problem(),
      "");
  EXPECT_EQ(over("FusedMatMul", {{2, 3}}).floats({4, 3}, zeros(12)).problem(),
            "E0206 inputs must have rank 1 or more, equal contracted extents, and leading axes "
            "that broadcast; found [2 3] and [4 3]");
  EXPECT_EQ(over("FusedMatMul", {{2, 3}, {3, 4}}).with("transBatchA", int64_t{2}).problem(),
            "E0203 attribute 'transBatchA' must be 0 or 1 (default 0); found 2");
  EXPECT_EQ(over("FusedMatMul", {{2, 5, 3}, {5, 3, 4}}).with("transBatchA", int64_t{1}).problem(),
            "");
  EXPECT_EQ(over("FusedMatMul", {{2, 5, 3}, {5, 3, 4}}).problem(),
            "E0206 inputs must have rank 1 or more, equal contracted extents, and leading axes "
            "that broadcast; found [2 5 3] and [5 3 4]");
  const std::string gemm =
      "E0206 attribute 'activation' must be '' or one of Clip, Relu, Tanh, Sigmoid, Affine, "
      "LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus, with its "
      "parameters in 'activation_alpha' and 'activation_beta'; found ";
  const auto fused = [](const char *activation) {
    return over("FusedGemm", {{2, 3}}).floats({3, 4}, zeros(12)).with("activation", activation);
  };
  EXPECT_EQ(fused("").problem(), "");
  EXPECT_EQ(fused("Relu").problem(), "");
  EXPECT_EQ(fused("Dance").problem(), gemm + "'Dance'");
  EXPECT_EQ(fused("Relu").with("activation_alpha", 1.0F).problem(), gemm + "1 alpha too many");
  EXPECT_EQ(fused("Clip").problem(), gemm + "'Clip'");
}

/// What is computed at import is not what Gemm alone would give.
TEST(Microsoft, AppliesTheActivationToKnownProducts) {
  OneNodeModel one = over("FusedGemm", {});
  one.floats({1, 2}, {1, 2}).floats({2, 2}, {1, -1, 1, -1}).with("activation", "Relu");
  one.model.input("unused", {1});
  EXPECT_EQ(evaluateModel(one.model, {{{1}, {0}}}).values, (std::vector<double>{3, 0}));
  EXPECT_EQ(over("FusedGemm", {}).ints({1, 1}, {1}).ints({1, 1}, {1}).problem(),
            "E0205 input 'A' must be float, float16, bfloat16 or double; found int64");
}

TEST(Microsoft, ChecksConvolutions) {
  const auto conv = [](const Ints &z) {
    return over("FusedConv", {{1, 3, 4}}).floats({2, 3, 1}, zeros(6)).none().input(z);
  };
  EXPECT_EQ(conv({1, 2, 4}).problem(), "");
  EXPECT_EQ(conv({1, 2, 1}).problem(), "E0206 node 0 (FusedConv): FusedConv: input 'Z' has shape "
                                       "[1 2 1], but the convolution [1 2 4]");
  EXPECT_EQ(conv({1, 2, 4})
                .with("activation", "HardSigmoid")
                .with("activation_params", Floats{1, 2, 3})
                .problem(),
            "E0206 attribute 'activation' must be '' or one of Clip, Relu, Tanh, Sigmoid, Affine, "
            "LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus, with "
            "its parameters in 'activation_params'; found 1 alpha too many");
}

TEST(Microsoft, ChecksWindows) {
  const auto conv = [](const Ints &x, const Ints &w) {
    return over("FusedConv", {x}).floats(w, zeros(w[0] * w[1] * w[2]));
  };
  EXPECT_EQ(conv({1, 1, 4}, {1, 1, 4}).problem(), "");
  EXPECT_EQ(conv({1, 1, 4}, {1, 1, 5}).problem(),
            "E0206 the window must fit into the padded input; found a window of 5 for 4 elements "
            "along axis 2");
  EXPECT_EQ(
      conv({1, 1, 4}, {1, 1, 2}).with("auto_pad", "SAME_UPPER").with("pads", Ints{1, 1}).problem(),
      "E0206 attribute 'pads' must be left out or 0 unless 'auto_pad' is NOTSET; found [1 1] "
      "and SAME_UPPER");
  EXPECT_EQ(conv({1, 8193, 1}, {8193, 1, 1}).with("group", int64_t{8193}).problem(),
            "E0205 constant weights, expanded over all groups, must have at most 16777216 "
            "elements; found [8193 8193 1]");
}

TEST(Microsoft, ChecksBiases) {
  EXPECT_EQ(over("BiasGelu", {{2, 3}, {3}}).problem(), "");
  EXPECT_EQ(
      over("BiasGelu", {{2, 3}, {2}}).problem(),
      "E0206 input 'B' must have one element per position of the last axis; found [2 3] and [2]");
  EXPECT_EQ(over("BiasGelu", {{2, 3}}).problem(),
            "E0204 node 0 (BiasGelu): BiasGelu has 1 inputs; expected 2");
  EXPECT_EQ(
      over("FastGelu", {{}, {1}}).problem(),
      "E0206 input 'bias' must have one element per position of the last axis; found [] and [1]");
}

TEST(Microsoft, ChecksNormalisations) {
  EXPECT_EQ(over("SkipLayerNormalization", {{2, 3, 4}, {3, 4}, {4}}).problem(), "");
  EXPECT_EQ(over("SkipLayerNormalization", {{2, 3, 4}, {2, 4}, {4}}).problem(),
            "E0206 input 'input' must have rank 2 or 3, and 'skip' must broadcast to it; found [2 "
            "3 4] and [2 4]");
  EXPECT_EQ(over("SkipLayerNormalization", {{2, 3, 4}, {2, 3, 4}, {4}, {3}}).problem(),
            "E0206 inputs 'gamma', 'beta' and 'bias', if given, must have one element per position "
            "of the last axis; found [3] for [2 3 4]");
  EXPECT_EQ(over("SkipSimplifiedLayerNormalization", {{2, 4}, {2, 4}, {3}}).problem(),
            "E0206 inputs 'gamma' and 'bias', if given, must have one element per position of the "
            "last axis; found [3] for [2 4]");
  const std::string group = "E0206 'X' must have rank 4, 'groups' divide its channels, 'gamma' and "
                            "'beta' have one element per channel; found ";
  const auto norm = [](const Ints &x, const Ints &gamma, int64_t groups) {
    return over("GroupNorm", {x, gamma, gamma})
        .with("groups", groups)
        .with("activation", int64_t{0})
        .problem();
  };
  EXPECT_EQ(norm({1, 2, 2, 4}, {4}, 2), "");
  EXPECT_EQ(norm({1, 2, 4}, {4}, 2), group + "[1 2 4]");
  EXPECT_EQ(norm({1, 2, 2, 4}, {4}, 3), group + "3 groups and [1 2 2 4] and [4] and [4]");
  EXPECT_EQ(norm({1, 2, 2, 4}, {4}, 0), group + "0 groups and [1 2 2 4] and [4] and [4]");
  EXPECT_EQ(norm({1, 4, 2, 2}, {4}, 2), group + "2 groups and [1 4 2 2] and [4] and [4]");
}

/// ids [1 3] into tables of 7 and 5 rows.
OneNodeModel embedding(const Ints &ids, const Ints &words, const Ints &places) {
  return over("EmbedLayerNormalization", {})
      .ints({1, static_cast<int64_t>(ids.size())}, ids)
      .none()
      .input(words)
      .input(places)
      .none()
      .input({4})
      .input({4});
}

TEST(Microsoft, ChecksEmbeddings) {
  EXPECT_EQ(embedding({0, 6, 1}, {7, 4}, {5, 4}).problem(), "");
  const std::string sentence = "E0206 ids must be [batch, positions], and every table must have a "
                               "row for each id, all of one width; found ";
  EXPECT_EQ(embedding({0, 7, 1}, {7, 4}, {5, 4}).problem(), sentence + "id 7 of [7 4]");
  EXPECT_EQ(embedding({0, -1, 1}, {7, 4}, {5, 4}).problem(), sentence + "id -1 of [7 4]");
  EXPECT_EQ(embedding({0, 1, 1}, {7, 4}, {2, 4}).problem(), sentence + "3 positions with [2 4]");
  EXPECT_EQ(embedding({0, 1, 1}, {7}, {2, 4}).problem(), sentence + "[1 3] and [7]");
  EXPECT_EQ(embedding({0}, {7, 5}, {5, 5}).problem(),
            "E0206 inputs 'gamma' and 'beta' must have one element per column of the tables; found "
            "[4] and [4]");
}

/// x [2 4 8] and weights of three times 8 columns, in two heads.
OneNodeModel attention() {
  return over("Attention", {{2, 4, 8}}).floats({8, 24}, zeros(192)).with("num_heads", int64_t{2});
}

TEST(Microsoft, ChecksAttention) {
  EXPECT_EQ(attention().problem(), "");
  const std::string packed =
      "E0206 'input' must be [batch, positions, width], 'weights' [width, q + k + v] with parts by "
      "'qkv_hidden_sizes' or thirds that 'num_heads' divides, and 'bias' [q + k + v]; found ";
  EXPECT_EQ(attention().floats({8}, zeros(8)).problem(),
            packed + "2 heads and [2 4 8] and [8 24] and [8]");
  for (const Ints &sizes :
       {Ints{8, 8}, Ints{8, 4, 12}, Ints{7, 7, 10}, Ints{INT64_MAX, INT64_MAX, 2}})
    EXPECT_EQ(attention().with("qkv_hidden_sizes", sizes).problem(),
              packed + "2 heads and [2 4 8] and [8 24]");
  EXPECT_EQ(over("Attention", {{2, 4, 8}})
                .floats({8, 24}, zeros(192))
                .with("num_heads", int64_t{3})
                .problem(),
            packed + "3 heads and [2 4 8] and [8 24]");
  EXPECT_EQ(attention().none().none().input({2, 2, 2, 3, 5}).problem(),
            "E0206 input 'past' must be [2, batch, heads, positions, head size] for keys and "
            "values; found [2 2 2 3 5]");
  EXPECT_EQ(attention().none().ints({3}, {1, 1, 1}, TensorProto::INT32).problem(),
            "E0205 input 'mask_index' must be [batch], [2 * batch], [batch, keys] or [batch, "
            "queries, keys]; found [3] for scores [2 2 4 4]");
  EXPECT_EQ(attention().none().ints({2}, {1, 0}, TensorProto::INT32).problem(),
            "E0205 node 0 (Attention): Attention: query 0 of sample 1 has no visible key, so its "
            "softmax is undefined");
  EXPECT_EQ(attention().with("mask_filter_value", -1.0F).problem(),
            "E0205 attribute 'mask_filter_value' must be at most -1000; found -1");
  EXPECT_EQ(attention().with("scale", -1.0F).problem(),
            "E0206 attribute 'scale' must be finite and at least 0; 0 stands for 1 / sqrt(head "
            "size); found -1");
  EXPECT_EQ(attention().with("do_rotary", int64_t{1}).problem(),
            "E0203 attribute 'do_rotary' must be 0 (default 0); found 1");
}

TEST(Microsoft, ChecksMultiHeadAttention) {
  const auto heads = [](const std::vector<Ints> &shapes) {
    return over("MultiHeadAttention", shapes).with("num_heads", int64_t{2});
  };
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 8}, {1, 5, 6}}).problem(), "");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 2, 5, 4}, {1, 2, 5, 3}}).problem(), "");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 8}, {1, 5, 6}}).with("scale", -1.0F).problem(),
            "E0206 attribute 'scale' must be finite and at least 0; 0 stands for 1 / sqrt(head "
            "size); found -1");
  const std::string sentence =
      "E0206 unpacked, 'query' must be [batch, positions, width], 'key' and 'value' too or [batch, "
      "heads, positions, size], with equal widths of 'query' and 'key', and 'num_heads' must "
      "divide each; found 2 heads, ";
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 6}, {1, 5, 6}}).problem(),
            sentence + "[1 3 8], [1 5 6], [1 5 6]");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 8}, {1, 4, 8}}).problem(),
            sentence + "[1 3 8], [1 5 8], [1 4 8]");
  EXPECT_EQ(heads({{3, 8}, {1, 5, 8}, {1, 5, 8}}).problem(), sentence + "[3 8], [1 5 8], [1 5 8]");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 8}, {1, 5, 6}, {8}}).problem(),
            "E0206 'bias' must have one element per column of 'query', 'key' and 'value', which "
            "must have rank 3; found [8] for [22]");
  EXPECT_EQ(
      heads({{1, 3, 8}, {1, 5, 8}, {1, 5, 6}}).none().none().none().input({1, 2, 2, 4}).problem(),
      "E0206 'past_key' and 'past_value' must both be [batch, heads, positions, head size], or "
      "both be left out; found only one of them");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 8}, {1, 5, 6}}).none().none().input({2, 5}).problem(),
            "E0206 input 'attention_bias' must broadcast to [batch, heads, queries, keys]; found "
            "[2 5] for [1 2 3 5]");
}

TEST(Microsoft, ChecksPackedHeads) {
  const auto heads = [](const std::vector<Ints> &shapes) {
    return over("MultiHeadAttention", shapes).with("num_heads", int64_t{2});
  };
  EXPECT_EQ(heads({{1, 3, 2, 3, 4}}).problem(), "");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 2, 2, 4}}).problem(), "");
  const std::string sentence =
      "E0206 'query', 'key' and 'value' must be given, or packed in 'query' [batch, positions, "
      "heads, 3, size] or in 'key' [batch, positions, heads, 2, size]; found 2 heads, ";
  EXPECT_EQ(heads({{1, 3, 8}}).problem(), sentence + "[1 3 8], none, none");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 8}}).problem(), sentence + "[1 3 8], [1 5 8], none");
  EXPECT_EQ(heads({{1, 3, 2, 2, 4}}).problem(), sentence + "[1 3 2 2 4], none, none");
  EXPECT_EQ(heads({{1, 3, 3, 3, 4}}).problem(), sentence + "[1 3 3 3 4], none, none");
  EXPECT_EQ(heads({{1, 3, 2, 3, 4}, {1, 3, 8}}).problem(), sentence + "[1 3 2 3 4], [1 3 8], none");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 2, 3, 4}}).problem(), sentence + "[1 3 8], [1 5 2 3 4], none");
  EXPECT_EQ(heads({{1, 3, 8}, {2, 5, 2, 2, 4}}).problem(), sentence + "[1 3 8], [2 5 2 2 4], none");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 2, 2, 3}}).problem(), sentence + "[1 3 8], [1 5 2 2 3], none");
  EXPECT_EQ(heads({{1, 3, 8}, {1, 5, 2, 2, 4}, {1, 5, 8}}).problem(),
            sentence + "[1 3 8], [1 5 2 2 4], [1 5 8]");
  EXPECT_EQ(heads({{1, 3, 2, 3, 4}}).none().none().input({24}).problem(),
            "E0206 'bias' must have one element per column of 'query', 'key' and 'value', which "
            "must have rank 3; found [24] for [24]");
}

TEST(Microsoft, ChecksWhatIsAddedToScores) {
  const auto attention = [](const Ints &added) {
    OneNodeModel node = over("Attention", {{1, 2, 4}, {4, 12}});
    return node.none().none().none().input(added).with("num_heads", int64_t{2});
  };
  EXPECT_EQ(attention({1, 2, 2, 2}).problem(), "");
  EXPECT_EQ(attention({1, 2, 3, 2}).problem(),
            "E0206 input 'attention_bias' must broadcast to [batch, heads, queries, keys]; found "
            "[1 2 3 2] for [1 2 2 2]");
  const auto masked = [](int64_t count) {
    OneNodeModel node = over("MultiHeadAttention", {{1, 2, 4}, {1, 2, 4}, {1, 2, 4}});
    node.none();
    // Ends of the keys first, then beginnings.
    node.ints({count}, count == 2 ? Ints{2, 0} : Ints{2, 0, 0}, TensorProto::INT32);
    return node.with("num_heads", int64_t{2});
  };
  EXPECT_EQ(masked(2).problem(), "");
  EXPECT_EQ(masked(3).problem(),
            "E0205 input 'key_padding_mask' must be [batch], [2 * batch], [batch, keys] or [batch, "
            "queries, keys]; found [3] for scores [1 2 2 2]");
}

TEST(Microsoft, ChecksMasksOfIds) {
  const auto embedding = [](const Ints &mask) {
    OneNodeModel node = over("EmbedLayerNormalization", {});
    node.ints({1, 2}, {0, 0}, TensorProto::INT32).none();
    node.input({2, 4}).input({2, 4}).none().input({4}).input({4});
    return node.ints(mask, Ints(static_cast<size_t>(mask[1]), 1), TensorProto::INT32);
  };
  EXPECT_EQ(embedding({1, 2}).problem(), "");
  EXPECT_EQ(embedding({1, 1}).problem(),
            "E0206 input 'mask' must have the shape of 'input_ids'; found [1 1]");
}

} // namespace
} // namespace sluice::frontend::test
