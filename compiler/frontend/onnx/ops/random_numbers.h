// What operators with random numbers share: where a node gets them from, and how many it may have.
#pragma once

#include <optional>

#include "compiler/frontend/onnx/node_view.h"
#include "runtime/random/random_numbers.h"

namespace sluice::frontend::ops {

/// Most random numbers of one node: what a program has room for on any target is less.
inline constexpr int64_t kMaxRandomElements = int64_t{1} << 24;

/// "there are at most ... random numbers", as many as `shape` gives elements.
Requirement boundedField(std::function<Shape(const NodeView &)> shape);

/// Returns the numbers that this node has in every inference: by its attribute 'seed', the same for
/// nodes with the same one; or, if fixed numbers are accepted, by the name of the node's result.
/// The node is noted as a random one. Nothing if every inference draws new ones. A NodeError
/// (E0208) where that is not possible.
std::optional<random::RandomField> fixedField(NodeBuilder &node);

/// Returns the numbers that the host draws for this node in every inference.
random::RandomNumbers drawn(const NodeView &node, random::Distribution distribution,
                            double first = 0, double second = 0);

/// Returns a tensor of a floating-point type with random numbers, rounded: known if they are the
/// same in every inference.
Tensor randomNumbers(NodeBuilder &node, DataType type, const Shape &shape,
                     random::Distribution distribution, double first = 0, double second = 0);

} // namespace sluice::frontend::ops
