// Attention of ONNX: several heads over one projection each, which it is given.
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/attention.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

enum Input : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kValidKeys };

/// Extents of an operand; of rank 3 its heads lie behind each other in the last axis.
struct Operand {
  int64_t batch, heads, positions, size;
};

Operand operandOf(const NodeView &node, size_t input, const char *heads) {
  const Shape &shape = node.in(input).shape;
  if (shape.size() == 4)
    return {shape[0], shape[1], shape[2], shape[3]};
  const int64_t count = node.integer(heads);
  return {shape[0], count, shape[1], shape[2] / count};
}

Operand queries(const NodeView &node) { return operandOf(node, kQ, "q_num_heads"); }
Operand keys(const NodeView &node) { return operandOf(node, kK, "kv_num_heads"); }
Operand values(const NodeView &node) { return operandOf(node, kV, "kv_num_heads"); }

int64_t pastKeys(const NodeView &node) {
  return node.has(kPastKey) ? node.in(kPastKey).shape[2] : 0;
}

/// [batch, heads, queries, keys]
Shape scoreShape(const NodeView &node) {
  const Operand q = queries(node);
  return {q.batch, q.heads, q.positions, pastKeys(node) + keys(node).positions};
}

std::string operandShapes(const NodeView &node) {
  return fmt::format("{}, {} and {}", shapeText(node.in(kQ).shape), shapeText(node.in(kK).shape),
                     shapeText(node.in(kV).shape));
}

std::string headsProblem(const NodeView &node) {
  for (const auto &[input, attribute] :
       {std::pair(kQ, "q_num_heads"), std::pair(kK, "kv_num_heads"),
        std::pair(kV, "kv_num_heads")}) {
    const Shape &shape = node.in(input).shape;
    const bool given = node.given(attribute);
    const int64_t count = given ? node.integer(attribute) : 0;
    const bool fits = shape.size() == 4 ? !given || count == shape[1]
                                        : given && count >= 1 && shape[2] % count == 0;
    if (!fits)
      return given ? fmt::format("{} for {}", count, shapeText(shape))
                   : fmt::format("no '{}' for {}", attribute, shapeText(shape));
  }
  return "";
}

std::string extentsProblem(const NodeView &node) {
  const Operand q = queries(node), k = keys(node), v = values(node);
  const bool fits = q.batch == k.batch && k.batch == v.batch && k.heads == v.heads &&
                    q.heads % k.heads == 0 && k.positions == v.positions && q.size == k.size;
  return fits ? "" : operandShapes(node);
}

std::string pastProblem(const NodeView &node) {
  if (node.has(kPastKey) != node.has(kPastValue))
    return "only one of them";
  if (!node.has(kPastKey))
    return "";
  const Operand k = keys(node), v = values(node);
  const Shape &key = node.in(kPastKey).shape, &value = node.in(kPastValue).shape;
  const bool fits = key.size() == 4 && value.size() == 4 && key[2] == value[2] &&
                    key == Shape{k.batch, k.heads, key[2], k.size} &&
                    value == Shape{v.batch, v.heads, value[2], v.size};
  return fits ? "" : fmt::format("{} and {}", shapeText(key), shapeText(value));
}

std::string maskProblem(const NodeView &node) {
  if (!node.has(kMask))
    return "";
  const Shape scores = scoreShape(node);
  return broadcastShape({scores, node.in(kMask).shape}) == scores
             ? ""
             : fmt::format("{} for {}", shapeText(node.in(kMask).shape), shapeText(scores));
}

std::string validKeysProblem(const NodeView &node) {
  if (!node.has(kValidKeys))
    return "";
  const Shape scores = scoreShape(node);
  if (node.in(kValidKeys).shape != Shape{scores[0]})
    return shapeText(node.in(kValidKeys).shape);
  for (const int64_t count : node.knownInts(kValidKeys))
    if (count < 1 || count > scores[3])
      return fmt::format("{} of {} keys", count, scores[3]);
  return node.has(kPastKey) ? "'past_key' as well" : "";
}

/// A bool mask keeps, a known one of floats adds and where it is -infinity hides, one computed at
/// run time adds.
void applyMask(NodeBuilder &node, AttentionMask &mask, std::vector<Tensor> &added) {
  const Tensor &given = node.in(kMask);
  if (!given.known) {
    added.push_back(given);
    return;
  }
  Shape shape(4 - given.rank(), 1);
  shape.insert(shape.end(), given.shape.begin(), given.shape.end());
  const auto at = [shape](int64_t b, int64_t n, int64_t s, int64_t t) {
    const Shape place = {b, n, s, t};
    int64_t flat = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      flat = flat * shape[i] + (shape[i] == 1 ? 0 : place[i]);
    return flat;
  };
  const HostTensor &values = *given.known;
  mask.keep(shape, [&](int64_t b, int64_t n, int64_t s, int64_t t) {
    const int64_t flat = at(b, n, s, t);
    return values.isFloat() ? values.floats[flat] != -INFINITY : values.ints[flat] != 0;
  });
  if (!values.isFloat())
    return;
  HostTensor finite = values;
  bool any = false;
  for (float &one : finite.floats) {
    one = one == -INFINITY ? 0 : one;
    any |= one != 0;
  }
  if (any)
    added.push_back(Tensor::ofKnown(std::move(finite)));
}

void buildAttention(NodeBuilder &node) {
  Emitter &emit = node.emit;
  const bool flat = node.in(kQ).rank() == 3;
  const auto operand = [&](size_t input, const Operand &extents) {
    return flat ? splitHeads(emit, node.in(input), extents.heads) : node.in(input);
  };
  AttentionOperands operands{.q = operand(kQ, queries(node)),
                             .k = operand(kK, keys(node)),
                             .v = operand(kV, values(node))};
  if (node.has(kPastKey)) {
    operands.k = emit.concat({node.in(kPastKey), operands.k}, 2);
    operands.v = emit.concat({node.in(kPastValue), operands.v}, 2);
  }
  operands.scale = node.given("scale")
                       ? node.real("scale")
                       : static_cast<float>(1 / std::sqrt(static_cast<double>(queries(node).size)));
  operands.softcap = node.real("softcap");

  const Shape scores = scoreShape(node);
  AttentionMask mask(scores);
  const std::vector<int64_t> none;
  const std::vector<int64_t> &valid = node.has(kValidKeys) ? node.knownInts(kValidKeys) : none;
  if (!valid.empty())
    mask.keep({2, 1, 1, 2}, [&](int64_t b, int64_t, int64_t, int64_t t) { return t < valid[b]; });
  if (node.integer("is_causal") != 0) {
    // The queries are the last ones of the sequence that the keys are of.
    const auto before = [&](int64_t b) {
      return valid.empty() ? pastKeys(node) : valid[b] - scores[2];
    };
    mask.keep({valid.empty() ? 1 : 2, 1, 2, 2},
              [&](int64_t b, int64_t, int64_t s, int64_t t) { return t <= s + before(b); });
  }
  if (node.has(kMask))
    applyMask(node, mask, operands.added);
  operands.visible = mask.known();

  const Tensor y = attend(emit, operands);
  node.result(0, flat ? mergeHeads(emit, y) : y);
  node.result(1, operands.k);
  node.result(2, operands.v);
}

Operator attention(bool hasValidKeys) {
  Operator entry;
  entry.name = "Attention";
  entry.form = "matmul of two activations, maps, softmax, matmul of two activations";
  entry.inputs = {{"Q"},
                  {"K"},
                  {"V"},
                  {"attn_mask", Types::Any, Presence::Optional},
                  {"past_key", Types::Float, Presence::Optional},
                  {"past_value", Types::Float, Presence::Optional}};
  if (hasValidKeys)
    entry.inputs.push_back({"nonpad_kv_seqlen", Types::Integer, Presence::Optional, true});
  entry.outputs = {{"Y"},
                   {"present_key", Presence::Optional},
                   {"present_value", Presence::Optional},
                   {"qk_matmul_output", Presence::Refused}};
  entry.attributes = {
      {"is_causal", AttributeKind::Int, int64_t{0}, false, {0, 1}},
      {"kv_num_heads", AttributeKind::Int},
      {"q_num_heads", AttributeKind::Int},
      {"qk_matmul_output_mode", AttributeKind::Int, int64_t{0}, false, {0, 1, 2, 3}},
      {"scale", AttributeKind::Float},
      {"softcap", AttributeKind::Float, 0.0F},
      {"softmax_precision", AttributeKind::Int}};
  entry.requirements = {
      {"inputs 'Q', 'K' and 'V' must all have rank 3 or all have rank 4",
       [](const NodeView &node) -> std::string {
         const int64_t rank = node.in(kQ).rank();
         const bool fits =
             (rank == 3 || rank == 4) && node.in(kK).rank() == rank && node.in(kV).rank() == rank;
         return fits ? "" : operandShapes(node);
       },
       kShapes},
      {"'q_num_heads' and 'kv_num_heads' must divide the last axis for rank 3, or be axis 1 for "
       "rank 4",
       headsProblem, kShapes},
      {"'Q', 'K' and 'V' must agree in batch, 'Q' and 'K' in head size, 'K' and 'V' in heads and "
       "positions, and their heads must divide those of 'Q'",
       extentsProblem, kShapes},
      {"'past_key' and 'past_value' must both be [batch, heads, positions, head size], or both be "
       "left out",
       pastProblem, kShapes},
      {"input 'attn_mask' must be bool or a floating-point type",
       [](const NodeView &node) -> std::string {
         if (!node.has(kMask) || isFloatType(node.in(kMask).type) ||
             node.in(kMask).type == onnx::TensorProto::BOOL)
           return "";
         return dataTypeName(node.in(kMask).type);
       },
       kShapes},
      {"input 'attn_mask' must broadcast to [batch, heads, queries, keys]", maskProblem},
      {"attribute 'softcap' must be finite and at least 0, and 'scale' finite and above 0",
       [](const NodeView &node) -> std::string {
         const float cap = node.real("softcap"),
                     scale = node.given("scale") ? node.real("scale") : 1;
         const bool fits = cap >= 0 && std::isfinite(cap) && scale > 0 && std::isfinite(scale);
         return fits ? "" : fmt::format("{} and {}", cap, scale);
       },
       kShapes}};
  if (hasValidKeys)
    entry.requirements.push_back({"'nonpad_kv_seqlen' must have one number in [1, keys] per "
                                  "sample, and 'past_key' must be left out",
                                  validKeysProblem, kShapes});
  entry.build = buildAttention;
  return entry;
}

} // namespace

void addAttention(OperatorTable &table) {
  table.add({23}, attention(false));
  table.add({24}, attention(true));
}

} // namespace sluice::frontend::ops
