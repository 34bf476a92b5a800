// Attention and RotaryEmbedding of ONNX: what is refused, word for word.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using One = OneNodeModel;
using onnx::TensorProto;

/// Over run-time tensors of these shapes.
One attention(const std::vector<Ints> &shapes, int64_t opset = 24) {
  One one("Attention", opset);
  for (const Ints &shape : shapes)
    one.input(shape);
  return one;
}

const Ints kQ = {1, 2, 4, 8}, kK = {1, 2, 6, 8}, kV = {1, 2, 6, 5};

TEST(Attention, ChecksRanksAndHeads) {
  EXPECT_EQ(attention({kQ, kK, kV}).problem(), "");
  EXPECT_EQ(attention({kQ, kK, kV}, 23).problem(), "");
  EXPECT_EQ(attention({kQ, {1, 6, 8}, kV}).problem(),
            "E0206 inputs 'Q', 'K' and 'V' must all have rank 3 or all have rank 4; found [1 2 4 "
            "8], [1 6 8] and [1 2 6 5]");
  const std::string heads = "E0206 'q_num_heads' and 'kv_num_heads' must divide the last axis for "
                            "rank 3, or be axis 1 for rank 4; found ";
  EXPECT_EQ(attention({{1, 4, 8}, {1, 6, 8}, {1, 6, 8}}).problem(),
            heads + "no 'q_num_heads' for [1 4 8]");
  EXPECT_EQ(attention({{1, 4, 8}, {1, 6, 8}, {1, 6, 8}})
                .with("q_num_heads", int64_t{2})
                .with("kv_num_heads", int64_t{3})
                .problem(),
            heads + "3 for [1 6 8]");
  EXPECT_EQ(attention({{1, 4, 8}, {1, 6, 8}, {1, 6, 8}})
                .with("q_num_heads", INT64_MIN)
                .with("kv_num_heads", int64_t{2})
                .problem(),
            heads + "-9223372036854775808 for [1 4 8]");
  EXPECT_EQ(attention({kQ, kK, kV}).with("q_num_heads", int64_t{4}).problem(),
            heads + "4 for [1 2 4 8]");
}

TEST(Attention, ChecksExtents) {
  const std::string sentence =
      "E0206 'Q', 'K' and 'V' must agree in batch, 'Q' and 'K' in head size, 'K' and 'V' in heads "
      "and positions, and their heads must divide those of 'Q'; found ";
  EXPECT_EQ(attention({kQ, {1, 2, 6, 7}, kV}).problem(),
            sentence + "[1 2 4 8], [1 2 6 7] and [1 2 6 5]");
  EXPECT_EQ(attention({kQ, kK, {1, 2, 5, 5}}).problem(),
            sentence + "[1 2 4 8], [1 2 6 8] and [1 2 5 5]");
  EXPECT_EQ(attention({{1, 3, 4, 8}, kK, kV}).problem(),
            sentence + "[1 3 4 8], [1 2 6 8] and [1 2 6 5]");
  EXPECT_EQ(attention({{2, 2, 4, 8}, kK, kV}).problem(),
            sentence + "[2 2 4 8], [1 2 6 8] and [1 2 6 5]");
}

TEST(Attention, ChecksPastAndMask) {
  const std::string past = "E0206 'past_key' and 'past_value' must both be [batch, heads, "
                           "positions, head size], or both be left out; found ";
  EXPECT_EQ(attention({kQ, kK, kV}).none().input({1, 2, 3, 8}).problem(),
            past + "only one of them");
  EXPECT_EQ(attention({kQ, kK, kV}).none().input({1, 2, 3, 8}).input({1, 2, 4, 5}).problem(),
            past + "[1 2 3 8] and [1 2 4 5]");
  EXPECT_EQ(attention({kQ, kK, kV}).input({4, 5}).problem(),
            "E0205 input 'attn_mask' must broadcast to [batch, heads, queries, keys]; found [4 5] "
            "for [1 2 4 6]");
  EXPECT_EQ(attention({kQ, kK, kV}).ints({6}, {1, 1, 1, 1, 1, 1}).problem(),
            "E0206 input 'attn_mask' must be bool or a floating-point type; found int64");
  EXPECT_EQ(attention({kQ, kK, kV}).ints({6}, {0, 0, 0, 0, 0, 0}, TensorProto::BOOL).problem(),
            "E0205 node 0 (Attention): Attention: query 0 of sample 0 has no visible key, so its "
            "softmax is undefined");
}

TEST(Attention, ChecksNumbers) {
  const std::string numbers = "E0206 attribute 'softcap' must be finite and at least 0, and "
                              "'scale' finite and above 0; found ";
  EXPECT_EQ(attention({kQ, kK, kV}).with("softcap", -1.0F).problem(), numbers + "-1 and 1");
  EXPECT_EQ(attention({kQ, kK, kV}).with("scale", 0.0F).problem(), numbers + "0 and 0");
  EXPECT_EQ(attention({kQ, kK, kV}).with("is_causal", int64_t{2}).problem(),
            "E0203 attribute 'is_causal' must be 0 or 1 (default 0); found 2");
  const std::string valid = "E0206 'nonpad_kv_seqlen' must have one number in [1, keys] per "
                            "sample, and 'past_key' must be left out; found ";
  const auto over = [](const Ints &shape, const Ints &values) {
    return attention({kQ, kK, kV}).none().none().none().ints(shape, values).problem();
  };
  EXPECT_EQ(over({1}, {6}), "");
  EXPECT_EQ(over({1}, {7}), valid + "7 of 6 keys");
  EXPECT_EQ(over({1}, {0}), valid + "0 of 6 keys");
  EXPECT_EQ(over({2}, {1, 1}), valid + "[2]");
  EXPECT_EQ(attention({kQ, kK, kV}, 23).none().none().none().ints({1}, {6}).problem(),
            "E0204 node 0 (Attention): Attention has 7 inputs; expected 3 to 6");
}

/// x [2 3 16], caches of [10 4] and ids.
One rotary(const Ints &cos, const Ints &sin, const Ints &ids, int64_t id = 0) {
  One one("RotaryEmbedding", 23);
  one.input({2, 3, 16}).input(cos).input(sin);
  int64_t count = 1;
  for (const int64_t extent : ids)
    count *= extent;
  if (!ids.empty())
    one.ints(ids, Ints(count, id));
  return one;
}

TEST(RotaryEmbedding, ChecksHeadsAndCaches) {
  const Ints cache = {10, 4}, ids = {2, 3};
  EXPECT_EQ(rotary(cache, cache, ids).with("num_heads", int64_t{2}).problem(), "");
  const std::string heads = "E0206 attribute 'num_heads' must divide the last axis for rank 3, and "
                            "be 0 or axis 1 for rank 4; found ";
  EXPECT_EQ(rotary(cache, cache, ids).problem(), heads + "0 for [2 3 16]");
  EXPECT_EQ(rotary(cache, cache, ids).with("num_heads", int64_t{-2}).problem(),
            heads + "-2 for [2 3 16]");
  EXPECT_EQ(rotary({4}, {4}, ids).problem(),
            "E0206 inputs 'cos_cache' and 'sin_cache' must have rank 2 or 3; found [4]");
  const std::string caches =
      "E0206 the caches must have one shape, [rows, half] with 'position_ids', else [batch, "
      "positions, half], where half is half of 'rotary_embedding_dim' or of a head; found ";
  EXPECT_EQ(rotary(cache, {10, 3}, ids).with("num_heads", int64_t{2}).problem(),
            caches + "[10 4] and [10 3] for heads of 8, 'rotary_embedding_dim' 0");
  EXPECT_EQ(rotary(cache, cache, {}).with("num_heads", int64_t{2}).problem(),
            caches + "[10 4] and [10 4] for heads of 8, 'rotary_embedding_dim' 0");
  EXPECT_EQ(rotary(cache, cache, ids)
                .with("num_heads", int64_t{2})
                .with("rotary_embedding_dim", int64_t{4})
                .problem(),
            caches + "[10 4] and [10 4] for heads of 8, 'rotary_embedding_dim' 4");
  const std::string places =
      "E0206 'position_ids' must be [batch, positions], with a cache row for each; found ";
  EXPECT_EQ(rotary(cache, cache, {3, 2}).with("num_heads", int64_t{2}).problem(), places + "[3 2]");
  EXPECT_EQ(rotary(cache, cache, ids, 10).with("num_heads", int64_t{2}).problem(),
            places + "10 with caches of 10");
  EXPECT_EQ(rotary(cache, cache, ids, -1).with("num_heads", int64_t{2}).problem(),
            places + "-1 with caches of 10");
}

} // namespace
} // namespace sluice::frontend::test
