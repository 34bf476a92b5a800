// What operators with random numbers share: which field a node has, and how large it may be.
#pragma once

#include "compiler/frontend/onnx/node_view.h"
#include "compiler/reference/random_field.h"

namespace sluice::frontend::ops {

/// Most random numbers of one node: what a program has room for on any target is less.
inline constexpr int64_t kMaxRandomElements = int64_t{1} << 24;

/// "there are at most ... random numbers", as many as `shape` gives elements.
Requirement boundedField(std::function<Shape(const NodeView &)> shape);

/// The numbers of this node: by its attribute 'seed', the same for nodes with the same one; or
/// without it by the name of the node's result. A NodeError (E0208) where numbers without a seed
/// are refused. The node is noted as a random one.
reference::RandomField fieldOf(NodeBuilder &node);

/// The known tensor of a floating-point type whose element i is element(i), rounded.
Tensor tabulated(DataType type, const Shape &shape, const std::function<double(int64_t)> &element);

} // namespace sluice::frontend::ops
