#include "compiler/frontend/onnx/ops/indices.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::frontend::ops {
namespace {

/// "7 at extent 3" of the first index outside [-extent, extent-1].
std::string outside(const std::vector<int64_t> &indices, int64_t extent) {
  for (const int64_t index : indices)
    if (index < -extent || index >= extent)
      return fmt::format("{} for extent {}", index, extent);
  return "";
}

} // namespace

int64_t indexedAxis(const NodeView &node) {
  return node.axis(node.integer("axis"), node.in(0).rank());
}

Requirement indicesInRange() {
  return {"the indices must be in [-extent, extent-1] of 'axis'",
          [](const NodeView &node) {
            return outside(node.knownInts(1), node.in(0).shape[indexedAxis(node)]);
          },
          kShapes};
}

Requirement indicesFit() {
  return {
      "'indices' must have elements, the rank of 'data', and no larger extent except along 'axis'",
      [](const NodeView &node) -> std::string {
        const Shape &data = node.in(0).shape, &indices = node.in(1).shape;
        bool fits = data.size() == indices.size() && elementCount(indices, kMaxElements) > 0;
        for (size_t i = 0; fits && i < data.size(); ++i)
          fits = indices[i] <= data[i] || static_cast<int64_t>(i) == indexedAxis(node);
        return fits ? "" : shapeText(indices) + " for " + shapeText(data);
      },
      kShapes};
}

int64_t batchAxes(const NodeView &node) {
  return node.given("batch_dims") ? node.integer("batch_dims") : 0;
}

std::vector<int64_t> flatPlaces(const NodeView &node, const Shape &extents, size_t first,
                                std::string &found) {
  const std::vector<int64_t> &indices = node.knownInts(1);
  const int64_t depth = node.in(1).shape.back();
  std::vector<int64_t> places;
  for (size_t at = 0; at < indices.size(); at += depth) {
    int64_t place = 0;
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t extent = extents[first + i];
      found = outside({indices[at + i]}, extent);
      if (!found.empty())
        return {};
      place = place * extent + fromFront(indices[at + i], extent);
    }
    places.push_back(place);
  }
  return places;
}

Requirement depthFits() {
  return {"the last extent of 'indices' must be in [1, non-batch axes of 'data'], with the batch "
          "of 'data'",
          [](const NodeView &node) -> std::string {
            const Shape &data = node.in(0).shape, &indices = node.in(1).shape;
            const int64_t batch = batchAxes(node);
            const auto shared = [&] {
              return std::equal(data.begin(), data.begin() + batch, indices.begin());
            };
            const bool fits = batch >= 0 && batch < node.in(1).rank() &&
                              batch < node.in(0).rank() &&
                              elementCount(indices, kMaxElements) > 0 && indices.back() >= 1 &&
                              indices.back() + batch <= node.in(0).rank() && shared();
            return fits ? "" : shapeText(indices) + " for " + shapeText(data);
          },
          kShapes};
}

Requirement placesInRange() {
  return {"the indices must be in [-extent, extent-1] of their axes",
          [](const NodeView &node) {
            std::string found;
            flatPlaces(node, node.in(0).shape, batchAxes(node), found);
            return found;
          },
          kShapes};
}

} // namespace sluice::frontend::ops
