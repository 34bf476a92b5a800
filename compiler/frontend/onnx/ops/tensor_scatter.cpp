// TensorScatter: new positions put into a cache, where the places are known at import.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

enum CacheInput : size_t { kCache, kUpdate, kPlaces };

int64_t axisOf(const NodeView &node) {
  return node.axis(node.integer("axis"), node.in(kCache).rank());
}

bool isCircular(const NodeView &node) { return node.attribute<std::string>("mode") == "circular"; }

/// Where the update of each batch begins.
std::vector<int64_t> placesOf(const NodeView &node) {
  return node.has(kPlaces) ? node.knownInts(kPlaces)
                           : std::vector<int64_t>(node.in(kCache).shape[0], 0);
}

/// The cache with the update from `place` on; what is beyond its end is at its beginning.
Tensor updated(Emitter &emit, const Tensor &cache, const Tensor &update, int64_t axis,
               int64_t place) {
  const int64_t extent = cache.shape[axis], count = update.shape[axis];
  const int64_t around = std::max<int64_t>(place + count - extent, 0), end = place + count - around;
  return emit.concat({sliceAlong(emit, update, axis, count - around, around),
                      sliceAlong(emit, cache, axis, around, place - around),
                      sliceAlong(emit, update, axis, 0, count - around),
                      sliceAlong(emit, cache, axis, end, extent - end)},
                     axis);
}

void build(NodeBuilder &node) {
  const std::vector<int64_t> places = placesOf(node);
  const int64_t axis = axisOf(node);
  const Tensor &cache = node.in(kCache), &update = node.in(kUpdate);
  if (std::ranges::count(places, places[0]) == static_cast<int64_t>(places.size())) {
    node.result(updated(node.emit, cache, update, axis, places[0]));
    return;
  }
  std::vector<Tensor> parts;
  for (size_t batch = 0; batch < places.size(); ++batch) {
    const auto at = static_cast<int64_t>(batch);
    parts.push_back(updated(node.emit, sliceAlong(node.emit, cache, 0, at, 1),
                            sliceAlong(node.emit, update, 0, at, 1), axis, places[batch]));
  }
  node.result(node.emit.concat(parts, 0));
}

std::vector<Requirement> requirements() {
  return {{"attribute 'mode' must be 'linear' or 'circular'",
           [](const NodeView &node) -> std::string {
             const auto &mode = node.attribute<std::string>("mode");
             return mode == "linear" || mode == "circular" ? "" : inQuotes(mode);
           },
           kShapes},
          {"attribute 'axis' must be an axis of 'past_cache' other than the first",
           [](const NodeView &node) -> std::string {
             const int64_t rank = node.in(kCache).rank(), axis = node.integer("axis");
             return axis >= -rank && axis < rank && axisOf(node) != 0
                        ? ""
                        : fmt::format("axis {} for rank {}", axis, rank);
           },
           kShapes},
          {"'update' must match 'past_cache' in type and shape, except that 'axis' may be shorter "
           "(at least 1)",
           [](const NodeView &node) -> std::string {
             const Tensor &cache = node.in(kCache), &update = node.in(kUpdate);
             Shape shape = update.shape;
             const int64_t axis = axisOf(node);
             bool fits = shape.size() == cache.shape.size() && cache.type == update.type;
             if (fits) {
               fits = shape[axis] >= 1 && shape[axis] <= cache.shape[axis];
               shape[axis] = cache.shape[axis];
             }
             return fits && shape == cache.shape
                        ? ""
                        : fmt::format("{} {} for {} {}", dataTypeName(update.type),
                                      shapeText(update.shape), dataTypeName(cache.type),
                                      shapeText(cache.shape));
           },
           kShapes},
          {"'write_indices', if given, must have one element per batch, in [0, extent - update] of "
           "'axis' (linear) or [0, extent - 1] (circular)",
           [](const NodeView &node) -> std::string {
             const int64_t extent = node.in(kCache).shape[axisOf(node)];
             const int64_t last =
                 isCircular(node) ? extent - 1 : extent - node.in(kUpdate).shape[axisOf(node)];
             const std::vector<int64_t> places = placesOf(node);
             if (places.empty() || static_cast<int64_t>(places.size()) != node.in(kCache).shape[0])
               return inputShapes(node);
             for (const int64_t place : places)
               if (place < 0 || place > last)
                 return fmt::format("{}, expected [0, {}]", place, last);
             return "";
           },
           kShapes}};
}

} // namespace

void addTensorScatter(OperatorTable &table) {
  Operator entry;
  entry.name = "TensorScatter";
  entry.form = "slices, then concat; per batch if the indices differ";
  entry.inputs = {{"past_cache", Types::Any},
                  {"update", Types::Any},
                  {"write_indices", Types::Integer, Presence::Optional, true}};
  entry.outputs = {{"present_cache"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{-2}},
                      {"mode", AttributeKind::String, std::string("linear")}};
  entry.requirements = requirements();
  entry.build = build;
  table.add({24}, std::move(entry));
}

} // namespace sluice::frontend::ops
