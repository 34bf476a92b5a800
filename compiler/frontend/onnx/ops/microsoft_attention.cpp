// com.microsoft: Attention, which has the projections in it, and MultiHeadAttention.
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/attention.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/packed_attention.h"

namespace sluice::frontend::ops {
namespace {

/// A score less this is the score of a key that is not seen: exp of it is 0.
constexpr float kFarBelow = -1000;

constexpr AttentionInputs kPacked = {.mask = 3, .added = 5, .past = 4};
constexpr AttentionInputs kMultiHead = {.mask = 4, .added = 5, .past = 0};

std::vector<AttributeSpec> attributes() {
  return {{"num_heads", AttributeKind::Int, std::nullopt, true},
          {"mask_filter_value", AttributeKind::Float, -10000.0F},
          {"scale", AttributeKind::Float, 0.0F},
          {"unidirectional", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
}

Requirement filterIsLow() {
  return {fmt::format("attribute 'mask_filter_value' must be at most {}", kFarBelow),
          [](const NodeView &node) -> std::string {
            const float value = node.real("mask_filter_value");
            return value <= kFarBelow ? "" : fmt::format("{}", value);
          }};
}

Requirement scaleFits() {
  return {"attribute 'scale' must be finite and at least 0; 0 stands for 1 / sqrt(head size)",
          [](const NodeView &node) -> std::string {
            const float scale = node.real("scale");
            return scale >= 0 && std::isfinite(scale) ? "" : fmt::format("{}", scale);
          },
          kShapes};
}

/// `scores` is [batch, heads, queries, keys].
using ScoresOf = std::function<Shape(const NodeView &)>;

Requirement maskFits(const AttentionInputs &at, const char *name, ScoresOf scores) {
  return {
      fmt::format(
          "input '{}' must be [batch], [2 * batch], [batch, keys] or [batch, queries, keys]", name),
      [at, scores = std::move(scores)](const NodeView &node) -> std::string {
        if (!node.has(at.mask))
          return "";
        const Shape &mask = node.in(at.mask).shape, of = scores(node);
        const bool fits = mask == Shape{of[0]} || mask == Shape{2 * of[0]} ||
                          mask == Shape{of[0], of[3]} || mask == Shape{of[0], of[2], of[3]};
        return fits ? "" : fmt::format("{} for scores {}", shapeText(mask), shapeText(of));
      }};
}

Requirement addedFits(const AttentionInputs &at, ScoresOf scores) {
  return {"input 'attention_bias' must broadcast to [batch, heads, queries, keys]",
          [at, scores = std::move(scores)](const NodeView &node) -> std::string {
            if (!node.has(at.added))
              return "";
            const Shape &bias = node.in(at.added).shape, of = scores(node);
            return broadcastShape({of, bias}) == of
                       ? ""
                       : fmt::format("{} for {}", shapeText(bias), shapeText(of));
          },
          kShapes};
}

/// Scale, masks and what is added to the scores.
void applyCommon(NodeBuilder &node, const AttentionInputs &at, const Shape &scores,
                 AttentionOperands &operands) {
  const float scale = node.real("scale");
  operands.scale =
      scale != 0 ? scale
                 : static_cast<float>(1 / std::sqrt(static_cast<double>(operands.q.shape[3])));
  AttentionMask mask(scores);
  if (node.integer("unidirectional") != 0) {
    const int64_t before = scores[3] - scores[2]; // queries are the last positions
    mask.keep({1, 1, 2, 2},
              [before](int64_t, int64_t, int64_t s, int64_t t) { return t <= s + before; });
  }
  if (node.has(at.mask)) {
    const Shape &shape = node.in(at.mask).shape;
    const std::vector<int64_t> &values = node.knownInts(at.mask);
    const bool ends = shape.size() == 1;
    const auto count = static_cast<int64_t>(values.size());
    mask.keep({2, 1, shape.size() == 3 ? 2 : 1, 2}, [&](int64_t b, int64_t, int64_t s, int64_t t) {
      if (ends)
        return t < values[b] && (count == scores[0] || t >= values[scores[0] + b]);
      return values[shape.size() == 3 ? (b * scores[2] + s) * scores[3] + t : b * scores[3] + t] !=
             0;
    });
  }
  operands.visible = mask.known();
  if (at.added != 0 && node.has(at.added))
    operands.added.push_back(node.in(at.added));
}

Tensor plus(Emitter &emit, const Tensor &x, const Tensor &bias) {
  return emit.pointwise({x, bias},
                        [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
}

/// Columns of the projections to queries, keys and values.
Shape widths(const NodeView &node) {
  const int64_t all = node.in(1).shape.back();
  return node.given("qkv_hidden_sizes") ? node.integers("qkv_hidden_sizes")
                                        : Shape{all / 3, all / 3, all / 3};
}

Shape packedScores(const NodeView &node, const AttentionInputs &at) {
  const Shape &x = node.in(0).shape;
  const int64_t past = node.has(at.past) ? node.in(at.past).shape[3] : 0;
  return {x[0], node.integer("num_heads"), x[1], x[1] + past};
}

std::string packedProblem(const NodeView &node) {
  const Shape &x = node.in(0).shape, &weights = node.in(1).shape;
  const int64_t heads = node.integer("num_heads");
  bool fits = x.size() == 3 && weights.size() == 2 && weights[0] == x[2] && heads >= 1;
  if (fits) {
    const Shape size = widths(node);
    fits = size.size() == 3 && size[0] == size[1] && size[0] >= 1 && size[2] >= 1 &&
           size[0] <= weights[1] && size[2] <= weights[1] && 2 * size[0] + size[2] == weights[1] &&
           size[0] % heads == 0 && size[2] % heads == 0 &&
           (!node.has(2) || node.in(2).shape == Shape{weights[1]});
  }
  return fits ? "" : fmt::format("{} heads and {}", heads, inputShapes(node));
}

std::string packedPastProblem(const NodeView &node, const AttentionInputs &at) {
  if (!node.has(at.past))
    return "";
  const Shape &past = node.in(at.past).shape, size = widths(node);
  const int64_t heads = node.integer("num_heads");
  const bool fits = past.size() == 5 && size[0] == size[2] &&
                    past == Shape{2, node.in(0).shape[0], heads, past[3], size[0] / heads};
  return fits ? "" : shapeText(past);
}

Operator packedAttention() {
  Operator entry;
  entry.domain = "com.microsoft";
  entry.name = "Attention";
  entry.form = "matmul with the weights, slices, then as Attention of ONNX";
  entry.inputs = {{"input"},
                  {"weights"},
                  {"bias", Types::Float, Presence::Optional},
                  {"mask_index", Types::Integer, Presence::Optional, true},
                  {"past", Types::Float, Presence::Optional},
                  {"attention_bias", Types::Float, Presence::Optional}};
  entry.outputs = {{"output"}, {"present", Presence::Optional}};
  entry.attributes = packedAttributes();
  entry.attributes.push_back({"qkv_hidden_sizes", AttributeKind::Ints});
  entry.attributes.push_back({"rotary_embedding_dim", AttributeKind::Int, int64_t{0}, false, {0}});
  entry.requirements = packedRequirements(
      kPacked,
      "'input' must be [batch, positions, width], 'weights' [width, q + k + v] with parts by "
      "'qkv_hidden_sizes' or thirds that 'num_heads' divides, and 'bias' [q + k + v]");
  entry.build = [](NodeBuilder &node) {
    buildPacked(node, kPacked, [&](int64_t from, int64_t count) {
      const Tensor y =
          node.emit.matmul(node.in(0), sliceAlong(node.emit, node.in(1), 1, from, count));
      return node.has(2) ? plus(node.emit, y, sliceAlong(node.emit, node.in(2), 0, from, count))
                         : y;
    });
  };
  return entry;
}

enum MultiHead : size_t { kQuery, kKey, kValue, kBias, kPaddingMask, kAdded, kPastKey, kPastValue };

/// What is packed into one operand: keys and values behind 'key', and queries too into 'query'.
bool packsAll(const NodeView &node) { return node.in(kQuery).rank() == 5; }
bool packsKeys(const NodeView &node) { return node.has(kKey) && node.in(kKey).rank() == 5; }

/// Queries, keys and values as heads.
struct Heads {
  int64_t batch, queries, keys, size, valueSize;
};

/// [batch, heads, positions, size], or [batch, positions, heads * size].
int64_t positionsOf(const NodeView &node, size_t input) {
  const Shape &shape = node.in(input).shape;
  return shape[shape.size() - 2];
}

int64_t sizeOf(const NodeView &node, size_t input) {
  const Shape &shape = node.in(input).shape;
  return shape.size() == 4 ? shape[3] : shape[2] / node.integer("num_heads");
}

/// Of operands that fit.
Heads headsOf(const NodeView &node) {
  const Shape &q = node.in(kQuery).shape;
  if (packsAll(node))
    return {q[0], q[1], q[1], q[4], q[4]};
  if (packsKeys(node))
    return {q[0], q[1], node.in(kKey).shape[1], sizeOf(node, kQuery), sizeOf(node, kQuery)};
  return {q[0], q[1], positionsOf(node, kKey), sizeOf(node, kQuery), sizeOf(node, kValue)};
}

Shape multiHeadScores(const NodeView &node) {
  const Heads heads = headsOf(node);
  const int64_t past = node.has(kPastKey) ? node.in(kPastKey).shape[2] : 0;
  return {heads.batch, node.integer("num_heads"), heads.queries, heads.keys + past};
}

std::string givenShapes(const NodeView &node) {
  std::vector<std::string> shapes;
  for (const size_t input : {kQuery, kKey, kValue})
    shapes.push_back(node.has(input) ? shapeText(node.in(input).shape) : "none");
  return fmt::format("{} heads, {}", node.integer("num_heads"), fmt::join(shapes, ", "));
}

std::string packingProblem(const NodeView &node) {
  const Shape &q = node.in(kQuery).shape;
  const int64_t heads = node.integer("num_heads");
  bool fits = node.has(kKey) && node.has(kValue);
  if (packsAll(node)) {
    fits = !node.has(kKey) && !node.has(kValue) && heads >= 1 && q[2] == heads && q[3] == 3;
  } else if (packsKeys(node)) {
    const Shape &key = node.in(kKey).shape;
    fits = !node.has(kValue) && q.size() == 3 && heads >= 1 && key[0] == q[0] && key[2] == heads &&
           key[3] == 2 && heads * key[4] == q[2];
  }
  return fits ? "" : givenShapes(node);
}

std::string multiHeadProblem(const NodeView &node) {
  if (packsAll(node) || packsKeys(node))
    return "";
  const Shape &q = node.in(kQuery).shape;
  const int64_t heads = node.integer("num_heads");
  bool fits = q.size() == 3 && heads >= 1 && q[2] % heads == 0;
  for (const size_t input : {kKey, kValue}) {
    const Shape &shape = node.in(input).shape;
    fits = fits && (shape.size() == 3 || (shape.size() == 4 && shape[1] == heads)) &&
           shape[0] == q[0] && (shape.size() == 4 || shape[2] % heads == 0);
  }
  fits = fits && sizeOf(node, kKey) * heads == q[2] &&
         positionsOf(node, kKey) == positionsOf(node, kValue);
  return fits ? "" : givenShapes(node);
}

std::string biasProblem(const NodeView &node) {
  if (!node.has(kBias))
    return "";
  const Heads heads = headsOf(node);
  const Shape all = {node.integer("num_heads") * (2 * heads.size + heads.valueSize)};
  const bool hasColumns =
      !packsAll(node) && node.in(kKey).rank() == 3 && node.in(kValue).rank() == 3;
  return node.in(kBias).shape == all && hasColumns
             ? ""
             : fmt::format("{} for {}", shapeText(node.in(kBias).shape), shapeText(all));
}

std::string multiHeadPastProblem(const NodeView &node) {
  if (node.has(kPastKey) != node.has(kPastValue))
    return "only one of them";
  if (!node.has(kPastKey))
    return "";
  const Shape &key = node.in(kPastKey).shape, &value = node.in(kPastValue).shape;
  const int64_t heads = node.integer("num_heads");
  const Heads of = headsOf(node);
  const bool fits = key.size() == 4 && value.size() == 4 &&
                    key == Shape{of.batch, heads, key[2], of.size} &&
                    value == Shape{of.batch, heads, key[2], of.valueSize};
  return fits ? "" : fmt::format("{} and {}", shapeText(key), shapeText(value));
}

/// One of what is packed: [batch, positions, heads, several, size] to [batch, heads, positions,
/// size].
Tensor unpacked(Emitter &emit, const Tensor &x, int64_t which) {
  return emit.transpose(emit.squeeze(sliceAlong(emit, x, 3, which, 1), {3}), {0, 2, 1, 3});
}

/// An operand of its own, with its columns of the bias added.
Tensor separate(NodeBuilder &node, size_t input, int64_t firstColumn) {
  Tensor x = node.in(input);
  if (x.rank() == 4)
    return x;
  if (node.has(kBias))
    x = plus(node.emit, x, sliceAlong(node.emit, node.in(kBias), 0, firstColumn, x.shape[2]));
  return splitHeads(node.emit, x, node.integer("num_heads"));
}

AttentionOperands multiHeadOperands(NodeBuilder &node) {
  Emitter &emit = node.emit;
  if (packsAll(node)) {
    const Tensor &all = node.in(kQuery);
    return {.q = unpacked(emit, all, 0), .k = unpacked(emit, all, 1), .v = unpacked(emit, all, 2)};
  }
  const Tensor q = separate(node, kQuery, 0);
  if (packsKeys(node))
    return {.q = q, .k = unpacked(emit, node.in(kKey), 0), .v = unpacked(emit, node.in(kKey), 1)};
  const int64_t width = node.in(kQuery).shape[2];
  return {.q = q, .k = separate(node, kKey, width), .v = separate(node, kValue, 2 * width)};
}

Operator multiHeadAttention() {
  Operator entry;
  entry.domain = "com.microsoft";
  entry.name = "MultiHeadAttention";
  entry.form = "slices of the packed operands, map: + bias, then as Attention of ONNX";
  entry.inputs = {{"query"},
                  {"key", Types::Float, Presence::Optional},
                  {"value", Types::Float, Presence::Optional},
                  {"bias", Types::Float, Presence::Optional},
                  {"key_padding_mask", Types::Integer, Presence::Optional, true},
                  {"attention_bias", Types::Float, Presence::Optional},
                  {"past_key", Types::Float, Presence::Optional},
                  {"past_value", Types::Float, Presence::Optional}};
  entry.outputs = {{"output"},
                   {"present_key", Presence::Optional},
                   {"present_value", Presence::Optional},
                   {"qk", Presence::Refused}};
  entry.attributes = attributes();
  entry.requirements = {
      {"'query', 'key' and 'value' must be given, or packed in 'query' [batch, positions, heads, "
       "3, size] or in 'key' [batch, positions, heads, 2, size]",
       packingProblem, kShapes},
      {"unpacked, 'query' must be [batch, positions, width], 'key' and 'value' too or [batch, "
       "heads, positions, size], with equal widths of 'query' and 'key', and 'num_heads' must "
       "divide each",
       multiHeadProblem, kShapes},
      {"'bias' must have one element per column of 'query', 'key' and 'value', which must have "
       "rank 3",
       biasProblem, kShapes},
      {"'past_key' and 'past_value' must both be [batch, heads, positions, head size], or both be "
       "left out",
       multiHeadPastProblem, kShapes},
      filterIsLow(),
      scaleFits(),
      maskFits(kMultiHead, "key_padding_mask", multiHeadScores),
      addedFits(kMultiHead, multiHeadScores)};
  entry.build = [](NodeBuilder &node) {
    Emitter &emit = node.emit;
    AttentionOperands operands = multiHeadOperands(node);
    if (node.has(kPastKey)) {
      operands.k = emit.concat({node.in(kPastKey), operands.k}, 2);
      operands.v = emit.concat({node.in(kPastValue), operands.v}, 2);
    }
    applyCommon(node, kMultiHead, multiHeadScores(node), operands);
    node.result(0, mergeHeads(emit, attend(emit, operands)));
    node.result(1, operands.k);
    node.result(2, operands.v);
  };
  return entry;
}

} // namespace

std::vector<AttributeSpec> packedAttributes() {
  std::vector<AttributeSpec> out = attributes();
  for (const char *name : {"do_rotary", "past_present_share_buffer"})
    out.push_back({name, AttributeKind::Int, int64_t{0}, false, {0}});
  return out;
}

std::vector<Requirement> packedRequirements(const AttentionInputs &at, const char *shapes) {
  const ScoresOf scores = [at](const NodeView &node) { return packedScores(node, at); };
  std::vector<Requirement> out = {
      {shapes, packedProblem, kShapes},
      {"input 'past' must be [2, batch, heads, positions, head size] for keys and values",
       [at](const NodeView &node) { return packedPastProblem(node, at); }, kShapes},
      filterIsLow(),
      scaleFits(),
      maskFits(at, "mask_index", scores)};
  if (at.added != 0)
    out.push_back(addedFits(at, scores));
  return out;
}

void buildPacked(NodeBuilder &node, const AttentionInputs &at,
                 const std::function<Tensor(int64_t from, int64_t count)> &projected) {
  Emitter &emit = node.emit;
  const Shape size = widths(node);
  const auto heads = [&](int64_t from, int64_t count) {
    return splitHeads(emit, projected(from, count), node.integer("num_heads"));
  };
  AttentionOperands operands{
      .q = heads(0, size[0]), .k = heads(size[0], size[1]), .v = heads(size[0] + size[1], size[2])};
  if (node.has(at.past)) {
    const auto past = [&](int64_t which) {
      return emit.squeeze(sliceAlong(emit, node.in(at.past), 0, which, 1), {0});
    };
    operands.k = emit.concat({past(0), operands.k}, 2);
    operands.v = emit.concat({past(1), operands.v}, 2);
  }
  applyCommon(node, at, packedScores(node, at), operands);
  node.result(0, mergeHeads(emit, attend(emit, operands)));
  if (node.wants(1))
    node.result(1,
                emit.concat({emit.unsqueeze(operands.k, {0}), emit.unsqueeze(operands.v, {0})}, 0));
}

void addMicrosoftAttention(OperatorTable &table) {
  table.add({1}, packedAttention());
  table.add({1}, multiHeadAttention());
}

} // namespace sluice::frontend::ops
