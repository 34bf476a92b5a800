// RotaryEmbedding of ONNX and of com.microsoft: pairs of elements turned by an angle that depends
// on the position.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

/// Where the inputs are; both operators begin with x.
struct Places {
  size_t cosines, sines, ids;
};
constexpr Places kOnnx = {1, 2, 3};
constexpr Places kMicrosoft = {2, 3, 1};

/// x [batch, heads, positions, size] or [batch, positions, heads * size].
struct Extents {
  int64_t batch, heads, positions, size, turned;
};

/// Of one head, how many elements the caches turn.
int64_t turnedBy(const NodeView &node, const Places &at) {
  return 2 * node.in(at.cosines).shape.back();
}

Extents extentsOf(const NodeView &node, const Places &at) {
  const Shape &x = node.in(0).shape;
  const int64_t turned = turnedBy(node, at);
  if (x.size() == 4)
    return {x[0], x[1], x[2], x[3], turned};
  int64_t heads = node.integer("num_heads");
  if (heads == 0)
    heads = x[2] / turned; // com.microsoft: all of a head is turned
  return {x[0], heads, x[1], x[2] / heads, turned};
}

/// The position of every element of [batch, positions], or nothing where the caches are by them.
std::vector<int64_t> positionsOf(const NodeView &node, const Places &at, const Extents &x) {
  if (!node.has(at.ids))
    return {};
  std::vector<int64_t> ids = node.knownInts(at.ids);
  if (ids.size() == 1 && node.in(at.ids).rank() == 1) { // the first one
    const int64_t first = ids[0];
    ids.clear();
    for (int64_t i = 0; i < x.batch * x.positions; ++i)
      ids.push_back(first + i % x.positions);
  }
  return ids;
}

/// The cache by position, as what turns `x`: [batch, positions, 1, turned], or with heads before
/// the positions.
Tensor angles(NodeBuilder &node, const Places &at, size_t input, const Extents &x, bool pairs) {
  Emitter &emit = node.emit;
  Tensor cache = node.in(input);
  if (const std::vector<int64_t> ids = positionsOf(node, at, x); !ids.empty())
    cache = emit.reshape(gathered(emit, cache, ids, 0), {x.batch, x.positions, x.turned / 2});
  const Tensor both =
      pairs ? emit.repeat(cache, cache.rank() - 1, 2) : emit.concat({cache, cache}, 2);
  return emit.reshape(both, node.in(0).rank() == 4 ? Shape{x.batch, 1, x.positions, x.turned}
                                                   : Shape{x.batch, x.positions, 1, x.turned});
}

/// Of every pair (a, b) the pair (-b, a).
Tensor quarterTurn(Emitter &emit, const Tensor &x, bool pairs) {
  const int64_t half = x.shape[3] / 2;
  const Tensor a = sliceAlong(emit, x, 3, 0, half, pairs ? 2 : 1);
  const Tensor b =
      emit.pointwise({sliceAlong(emit, x, 3, pairs ? 1 : half, half, pairs ? 2 : 1)},
                     [](const Scalars &s, mlir::ValueRange v) { return s.scale(v[0], -1); });
  return pairs ? emit.interleave({b, a}, 3) : emit.concat({b, a}, 3);
}

void buildRotary(NodeBuilder &node, const Places &at) {
  Emitter &emit = node.emit;
  const Extents extents = extentsOf(node, at);
  const bool pairs = node.integer("interleaved") != 0;
  Tensor x = node.in(0);
  if (x.rank() == 3)
    x = emit.reshape(x, {extents.batch, extents.positions, extents.heads, extents.size});
  const Tensor turned = sliceAlong(emit, x, 3, 0, extents.turned);
  Tensor y =
      emit.pointwise({turned, angles(node, at, at.cosines, extents, pairs),
                      quarterTurn(emit, turned, pairs), angles(node, at, at.sines, extents, pairs)},
                     [](const Scalars &s, mlir::ValueRange v) {
                       return s.add(s.mul(v[0], v[1]), s.mul(v[2], v[3]));
                     });
  if (extents.turned < extents.size)
    y = emit.concat({y, sliceAlong(emit, x, 3, extents.turned, extents.size - extents.turned)}, 3);
  node.result(emit.reshape(y, node.in(0).shape));
}

std::string headsProblem(const NodeView &node, const Places &at, bool guesses) {
  const Shape &x = node.in(0).shape;
  const int64_t heads = node.integer("num_heads");
  if (x.size() == 4)
    return heads == 0 || heads == x[1] ? "" : fmt::format("{} for {}", heads, shapeText(x));
  const int64_t turned = turnedBy(node, at);
  const bool fits =
      heads == 0 ? guesses && turned > 0 && x[2] % turned == 0 : heads > 0 && x[2] % heads == 0;
  return fits ? "" : fmt::format("{} for {}", heads, shapeText(x));
}

std::string cacheProblem(const NodeView &node, const Places &at) {
  const Extents x = extentsOf(node, at);
  const Shape &cosines = node.in(at.cosines).shape;
  const int64_t asked = node.integer("rotary_embedding_dim");
  const bool rank = node.has(at.ids) ? cosines.size() == 2
                                     : cosines == Shape{x.batch, x.positions, cosines.back()};
  const bool fits = rank && node.in(at.sines).shape == cosines && x.turned >= 2 &&
                    x.turned <= x.size && x.turned == (asked == 0 ? x.size : asked);
  return fits ? ""
              : fmt::format("{} and {} for heads of {}, 'rotary_embedding_dim' {}",
                            shapeText(cosines), shapeText(node.in(at.sines).shape), x.size, asked);
}

std::string idsProblem(const NodeView &node, const Places &at, bool first) {
  if (!node.has(at.ids))
    return "";
  const Extents x = extentsOf(node, at);
  const Shape &shape = node.in(at.ids).shape;
  if (shape != Shape{x.batch, x.positions} && !(first && shape == Shape{1}))
    return shapeText(shape);
  const int64_t rows = node.in(at.cosines).shape[0];
  const int64_t last = shape.size() == 1 ? x.positions - 1 : 0;
  for (const int64_t id : node.knownInts(at.ids))
    if (id < 0 || id > rows - 1 - last)
      return fmt::format("{} with caches of {}", id, rows);
  return "";
}

Operator rotary(const Places &at, bool microsoft) {
  Operator entry;
  entry.name = "RotaryEmbedding";
  entry.domain = microsoft ? "com.microsoft" : "";
  entry.form = "slices, concat, map: x * cos + rotated x * sin";
  const InputSpec ids = {"position_ids", Types::Integer,
                         microsoft ? Presence::Required : Presence::Optional, true};
  entry.inputs = microsoft ? std::vector<InputSpec>{{"input"}, ids, {"cos_cache"}, {"sin_cache"}}
                           : std::vector<InputSpec>{{"X"}, {"cos_cache"}, {"sin_cache"}, ids};
  entry.outputs = {{microsoft ? "output" : "Y"}};
  entry.attributes = {{"interleaved", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"num_heads", AttributeKind::Int, int64_t{0}},
                      {"rotary_embedding_dim", AttributeKind::Int, int64_t{0}}};
  if (microsoft) {
    entry.attributes.push_back({"scale", AttributeKind::Float, 1.0F});
    entry.attributes.push_back({"is_packed_batching", AttributeKind::Int, int64_t{0}, false, {0}});
  }
  entry.requirements = {
      {fmt::format("input '{}' must have rank 3 or 4", entry.inputs[0].name),
       [](const NodeView &node) -> std::string {
         const int64_t rank = node.in(0).rank();
         return rank == 3 || rank == 4 ? "" : shapeText(node.in(0).shape);
       },
       kShapes},
      {"inputs 'cos_cache' and 'sin_cache' must have rank 2 or 3",
       [at](const NodeView &node) -> std::string {
         const int64_t rank = node.in(at.cosines).rank();
         return rank == 2 || rank == 3 ? "" : shapeText(node.in(at.cosines).shape);
       },
       kShapes},
      {microsoft ? "'num_heads' must divide the last axis (or be 0 if the cache width does) for "
                   "rank 3, and be 0 or axis 1 for rank 4"
                 : "attribute 'num_heads' must divide the last axis for rank 3, and be 0 or axis 1 "
                   "for rank 4",
       [at, microsoft](const NodeView &node) { return headsProblem(node, at, microsoft); },
       kShapes},
      {"the caches must have one shape, [rows, half] with 'position_ids', else [batch, positions, "
       "half], where half is half of 'rotary_embedding_dim' or of a head",
       [at](const NodeView &node) { return cacheProblem(node, at); }, kShapes},
      {microsoft ? "'position_ids' must be [batch, positions], or [1] for the first position, with "
                   "a cache row for each"
                 : "'position_ids' must be [batch, positions], with a cache row for each",
       [at, microsoft](const NodeView &node) { return idsProblem(node, at, microsoft); }, kShapes}};
  if (microsoft)
    entry.requirements.push_back(
        {"attribute 'scale' must be 1", [](const NodeView &node) -> std::string {
           const float scale = node.real("scale");
           return scale == 1 ? "" : fmt::format("{}", scale);
         }});
  entry.build = [at](NodeBuilder &node) { buildRotary(node, at); };
  return entry;
}

} // namespace

void addRotaryEmbedding(OperatorTable &table) {
  table.add({23}, rotary(kOnnx, false));
  table.add({1}, rotary(kMicrosoft, true));
}

} // namespace sluice::frontend::ops
