// Elements selected by indices: a map replaces every other element by minus infinity, and a maximum
// follows.
#pragma once

#include <functional>

#include "compiler/frontend/onnx/emitter.h"
#include "hw/numerics/bf16.h"

namespace sluice::frontend::ops {

/// Stands for minus infinity, which could not be added to elements that move from lane to lane.
inline constexpr float kLowest = numerics::kLowestBf16;

/// A constant of zeros and ones: element `flat` of `shape` is 1 where `test` says so.
Tensor mask(const Shape &shape, const std::function<bool(int64_t flat)> &test);

/// 0, 1, 2, ... along `axis` of a tensor of `rank` whose other axes have extent 1.
Tensor countAlong(int64_t axis, int64_t rank, int64_t extent);

/// Along `axis` the one element of `x` where `chosen` is not 0; both broadcast.
Tensor chosenAlong(Emitter &emit, const Tensor &chosen, const Tensor &x, int64_t axis);

/// The elements of a known vector at indices that the program computes, in the shape of `indices`.
/// Of integers at equal distances it is a map of the index.
Tensor lookedUp(Emitter &emit, const Tensor &vector, const Tensor &indices);

/// The places `indices` along an axis, known at import and counted from the front: runs of equal
/// distance are slices.
Tensor gathered(Emitter &emit, const Tensor &x, const std::vector<int64_t> &indices, int64_t axis);

} // namespace sluice::frontend::ops
