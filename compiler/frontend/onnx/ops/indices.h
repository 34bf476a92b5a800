// Indices that are known at import, as GatherElements, GatherND and the scatters take them.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/onnx/ops/common.h"

namespace sluice::frontend::ops {

/// A negative index counts from the end.
inline int64_t fromFront(int64_t index, int64_t extent) {
  return index < 0 ? index + extent : index;
}

/// The attribute 'axis', of input 0, from the front.
int64_t indexedAxis(const NodeView &node);
/// Requires the indices of input 1 to be in [-extent, extent - 1] of 'axis'.
Requirement indicesInRange();
/// Requires 'indices' to have the rank of 'data' and no greater extents, but along 'axis'.
Requirement indicesFit();

/// The attribute 'batch_dims', 0 where there is none.
int64_t batchAxes(const NodeView &node);
/// Of indices [..., m] into the m axes of `extents` from `first` on, the flat place of each;
/// empty if one is outside, which `found` names.
std::vector<int64_t> flatPlaces(const NodeView &node, const Shape &extents, size_t first,
                                std::string &found);
/// Requires the last axis of 'indices' to count axes of 'data' behind the batch.
Requirement depthFits();
/// Requires each of the indices to be on its axis.
Requirement placesInRange();

/// `shape` with `extent` inserted before `axis`.
inline Shape with(Shape shape, int64_t axis, int64_t extent) {
  shape.insert(shape.begin() + axis, extent);
  return shape;
}

} // namespace sluice::frontend::ops
