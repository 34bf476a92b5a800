// Requirements and sentences that several families share.
#pragma once

#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend::ops {

/// The most elements of a matrix that an operator makes of its attributes or indices.
inline constexpr int64_t kMostWeights = kMostFoldedElements;

/// "all inputs have the same element type" (E0206).
Requirement sameTypes();

/// "integers are known at import" (E0205), of every input; with `andBools` bools too.
Requirement knownIntegers(bool andBools = false);

/// "the inputs broadcast to one shape" (E0206).
Requirement broadcastable();

/// "input 'slope' broadcasts to the shape of 'X'" (E0206), of every input after the
/// first; `others` is the sentence's beginning.
Requirement broadcastsTo(const std::string &first, const std::string &others);

/// "attribute 'axis' is in [-rank, rank-1] of input ..." (E0206); with `pastEnd` also rank.
Requirement axisInRange(const std::string &input, bool pastEnd = false);

/// The attribute 'axes', or input 1 in later versions; nothing if left out.
std::optional<std::vector<int64_t>> givenAxes(const NodeView &node);

/// What is wrong with `axes` of a tensor of `rank`: out of range, or one twice; or empty.
std::string axesProblem(const std::vector<int64_t> &axes, int64_t rank);

/// `axes` counted from the front, ascending.
std::vector<int64_t> sortedAxes(const std::vector<int64_t> &axes, int64_t rank);

/// "[1 5], [4]": shapes of the given inputs.
std::string inputShapes(const NodeView &node);

/// `count` elements of an axis from `start` on, in steps of `step`.
Tensor sliceAlong(Emitter &emit, const Tensor &x, int64_t axis, int64_t start, int64_t count,
                  int64_t step = 1);

/// Product of extents [from, to).
int64_t extentProduct(const Shape &shape, size_t from, size_t to);

} // namespace sluice::frontend::ops
