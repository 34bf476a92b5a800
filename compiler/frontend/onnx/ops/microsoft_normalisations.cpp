// com.microsoft: LayerNormalization, SimplifiedLayerNormalization, their forms with a skip
// connection, EmbedLayerNormalization, GroupNorm.
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/normalisation.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

Operator named(const char *name, const char *form) {
  Operator entry;
  entry.domain = "com.microsoft";
  entry.name = name;
  entry.form = form;
  return entry;
}

Tensor sum(Emitter &emit, const Tensor &a, const Tensor &b) {
  return emit.pointwise({a, b},
                        [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
}

std::optional<Tensor> given(const NodeView &node, size_t input) {
  return node.has(input) ? std::optional(node.in(input)) : std::nullopt;
}

/// Requires of the inputs from `first` to before `end` that are given the shape of the last axis
/// of input 0.
Requirement perPlace(const std::string &names, size_t first, size_t end) {
  return {fmt::format("inputs {}, if given, must have one element per position of the last axis",
                      names),
          [=](const NodeView &node) -> std::string {
            const Shape &shape = node.in(0).shape;
            for (size_t i = first; i < end; ++i)
              if (node.has(i) && node.in(i).shape != Shape{shape.back()})
                return fmt::format("{} for {}", shapeText(node.in(i).shape), shapeText(shape));
            return "";
          },
          kShapes};
}

/// input + skip + bias, normalised over the last axis; output 3 is the sum.
Operator skipping(bool simplified) {
  Operator entry = named(simplified ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization",
                         simplified ? "map: input + skip + bias, then as RMSNormalization"
                                    : "map: input + skip + bias, then as LayerNormalization");
  const InputSpec bias = {"bias", Types::Float, Presence::Optional};
  entry.inputs = {{"input"}, {"skip"}, {"gamma"}};
  if (!simplified)
    entry.inputs.push_back({"beta", Types::Float, Presence::Optional});
  entry.inputs.push_back(bias);
  entry.outputs = {{"output"},
                   {"mean", Presence::Refused},
                   {"inv_std_var", Presence::Refused},
                   {"input_skip_bias_sum", Presence::Optional}};
  entry.attributes = {{"epsilon", AttributeKind::Float, 1e-12F}};
  entry.requirements = {
      sameTypes(),
      {"input 'input' must have rank 2 or 3, and 'skip' must broadcast to it",
       [](const NodeView &node) -> std::string {
         const Shape &x = node.in(0).shape, &skip = node.in(1).shape;
         const bool fits = (x.size() == 2 || x.size() == 3) && broadcastShape({x, skip}) == x;
         return fits ? "" : fmt::format("{} and {}", shapeText(x), shapeText(skip));
       },
       kShapes},
      perPlace(simplified ? "'gamma' and 'bias'" : "'gamma', 'beta' and 'bias'", 2,
               entry.inputs.size())};
  entry.build = [simplified](NodeBuilder &node) {
    const size_t bias = simplified ? 3 : 4;
    Tensor x = sum(node.emit, node.in(0), node.in(1));
    if (node.has(bias))
      x = sum(node.emit, x, node.in(bias));
    const Shape axes = {x.rank() - 1};
    const float epsilon = node.real("epsilon");
    node.result(0, simplified
                       ? normalisedByRms(node.emit, x, axes, epsilon, node.in(2)).y
                       : normalised(node.emit, x, axes, epsilon, node.in(2), given(node, 3)).y);
    node.result(3, x);
  };
  return entry;
}

/// What the inputs of EmbedLayerNormalization are.
enum Embedded : size_t {
  kIds,
  kSegments,
  kWords,
  kPositions,
  kSegmentWords,
  kGamma,
  kBeta,
  kMask,
  kPositionIds
};

/// Whether ids, [batch, positions] each, and tables of one width belong together.
std::string embeddingProblem(const NodeView &node) {
  const Shape &ids = node.in(kIds).shape, &words = node.in(kWords).shape;
  if (ids.size() != 2 || words.size() != 2)
    return fmt::format("{} and {}", shapeText(ids), shapeText(words));
  if (node.has(kSegments) != node.has(kSegmentWords))
    return "only one of 'segment_ids' and 'segment_embedding'";
  const auto lookup = [&](size_t of, size_t in) -> std::string {
    const Shape &shape = node.in(of).shape, &table = node.in(in).shape;
    if (shape != ids && !(of == kPositionIds && shape == Shape{1, ids[1]}))
      return fmt::format("ids {} and {}", shapeText(ids), shapeText(shape));
    if (table.size() != 2 || table[1] != words[1])
      return fmt::format("tables {} and {}", shapeText(words), shapeText(table));
    for (const int64_t id : node.knownInts(of))
      if (id < 0 || id >= table[0])
        return fmt::format("id {} of {}", id, shapeText(table));
    return "";
  };
  std::string found = lookup(kIds, kWords);
  if (found.empty() && node.has(kSegments))
    found = lookup(kSegments, kSegmentWords);
  if (found.empty() && node.has(kPositionIds))
    return lookup(kPositionIds, kPositions);
  const Shape &positions = node.in(kPositions).shape;
  if (found.empty() && (positions.size() != 2 || positions[1] != words[1] || positions[0] < ids[1]))
    return fmt::format("{} positions with {}", ids[1], shapeText(positions));
  return found;
}

void buildEmbedding(NodeBuilder &node) {
  Emitter &emit = node.emit;
  const Shape &ids = node.in(kIds).shape;
  const int64_t width = node.in(kWords).shape[1];
  const auto rows = [&](size_t table, const std::vector<int64_t> &which) {
    return emit.reshape(gathered(emit, node.in(table), which, 0),
                        {static_cast<int64_t>(which.size()) / ids[1], ids[1], width});
  };
  std::vector<int64_t> places(ids[1]);
  std::iota(places.begin(), places.end(), 0);
  Tensor x = sum(emit, rows(kWords, node.knownInts(kIds)),
                 rows(kPositions, node.has(kPositionIds) ? node.knownInts(kPositionIds) : places));
  if (node.has(kSegments))
    x = sum(emit, x, rows(kSegmentWords, node.knownInts(kSegments)));
  node.result(0, normalised(emit, x, {2}, node.real("epsilon"), node.in(kGamma), node.in(kBeta)).y);
  HostTensor lengths{onnx::TensorProto::INT32, {ids[0]}, {}, std::vector<int64_t>(ids[0], 0)};
  if (node.has(kMask))
    for (int64_t i = 0; i < node.in(kMask).known->size(); ++i)
      lengths.ints[i / ids[1]] += node.knownInts(kMask)[i] == 1 ? 1 : 0;
  node.result(1, Tensor::ofKnown(std::move(lengths)));
  node.result(2, x);
}

Operator embedding() {
  Operator entry = named("EmbedLayerNormalization",
                         "slices of the tables, map: word + position + segment, then as "
                         "LayerNormalization");
  entry.inputs = {{"input_ids", Types::Integer, Presence::Required, true},
                  {"segment_ids", Types::Integer, Presence::Optional, true},
                  {"word_embedding"},
                  {"position_embedding"},
                  {"segment_embedding", Types::Float, Presence::Optional},
                  {"gamma"},
                  {"beta"},
                  {"mask", Types::Integer, Presence::Optional, true},
                  {"position_ids", Types::Integer, Presence::Optional, true}};
  entry.outputs = {
      {"output"}, {"mask_index", Presence::Optional}, {"embedding_sum", Presence::Optional}};
  entry.attributes = {{"epsilon", AttributeKind::Float, 1e-12F},
                      {"mask_index_type", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.requirements = {{"ids must be [batch, positions], and every table must have a row for each "
                         "id, all of one width",
                         embeddingProblem, kShapes},
                        {"inputs 'gamma' and 'beta' must have one element per column of the tables",
                         [](const NodeView &node) -> std::string {
                           const Shape width = {node.in(kWords).shape[1]};
                           return node.in(kGamma).shape == width && node.in(kBeta).shape == width
                                      ? ""
                                      : fmt::format("{} and {}", shapeText(node.in(kGamma).shape),
                                                    shapeText(node.in(kBeta).shape));
                         },
                         kShapes},
                        {"input 'mask' must have the shape of 'input_ids'",
                         [](const NodeView &node) -> std::string {
                           return !node.has(kMask) || node.in(kMask).shape == node.in(kIds).shape
                                      ? ""
                                      : shapeText(node.in(kMask).shape);
                         },
                         kShapes}};
  entry.build = buildEmbedding;
  return entry;
}

/// Over the groups of the channels, which are the last axis or axis 1.
void buildGroup(NodeBuilder &node) {
  Emitter &emit = node.emit;
  const Tensor &x = node.in(0);
  const bool last = node.integer("channels_last") != 0;
  const size_t axis = last ? 3 : 1;
  const int64_t groups = node.integer("groups"), each = x.shape[axis] / groups;
  Shape split = x.shape;
  split[axis] = each;
  split.insert(split.begin() + static_cast<ptrdiff_t>(axis), groups);
  const auto spread = [&](const Tensor &values) {
    return emit.reshape(values, last ? Shape{groups, each} : Shape{groups, each, 1, 1});
  };
  Tensor y =
      emit.reshape(normalised(emit, emit.reshape(x, split), last ? Shape{1, 2, 4} : Shape{2, 3, 4},
                              node.real("epsilon"), spread(node.in(1)), spread(node.in(2)))
                       .y,
                   x.shape);
  if (node.integer("activation") != 0)
    y = emit.pointwise(
        {y}, [](const Scalars &s, mlir::ValueRange v) { return s.mul(v[0], s.sigmoid(v[0])); });
  node.result(std::move(y));
}

Operator groupNorm() {
  Operator entry = named("GroupNorm", "as GroupNormalization, then map: x * sigmoid(x) if asked");
  entry.inputs = {{"X"}, {"gamma"}, {"beta"}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"epsilon", AttributeKind::Float, 1e-5F},
                      {"groups", AttributeKind::Int, std::nullopt, true},
                      {"activation", AttributeKind::Int, std::nullopt, true, {0, 1}},
                      {"channels_last", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.requirements = {{"'X' must have rank 4, 'groups' divide its channels, 'gamma' and 'beta' "
                         "have one element per channel",
                         [](const NodeView &node) -> std::string {
                           const Shape &x = node.in(0).shape;
                           const int64_t groups = node.integer("groups");
                           if (x.size() != 4)
                             return shapeText(x);
                           const int64_t channels = x[node.integer("channels_last") != 0 ? 3 : 1];
                           const bool fits = groups >= 1 && channels % groups == 0 &&
                                             node.in(1).shape == Shape{channels} &&
                                             node.in(2).shape == Shape{channels};
                           return fits ? ""
                                       : fmt::format("{} groups and {}", groups, inputShapes(node));
                         },
                         kShapes}};
  entry.build = buildGroup;
  return entry;
}

/// RMSNormalization before ONNX had it.
Operator simplified(const OperatorTable &table) {
  Operator entry = *table.find("", "RMSNormalization", kMaxOpset);
  entry.name = "SimplifiedLayerNormalization";
  entry.outputs.push_back({"inv_std_var", Presence::Refused});
  return entry;
}

Operator inDomain(Operator entry) {
  entry.domain = "com.microsoft";
  return entry;
}

} // namespace

void addMicrosoftNormalisations(OperatorTable &table) {
  // onnxruntime had these two in ONNX's domain before ONNX did.
  const Operator layer = *table.find("", "LayerNormalization", kMaxOpset);
  table.add({1}, layer);
  table.add({1}, inDomain(layer));
  table.add({1}, simplified(table));
  table.add({1}, inDomain(simplified(table)));
  table.add({1}, skipping(false));
  table.add({1}, skipping(true));
  table.add({1}, embedding());
  table.add({1}, groupNorm());
}

} // namespace sluice::frontend::ops
