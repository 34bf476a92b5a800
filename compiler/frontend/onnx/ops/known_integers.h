// Integer tensors that are computed at import.
#pragma once

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"

namespace sluice::frontend::ops {

/// An integer tensor of the inputs' broadcast shape, known at import: an element is `function` of
/// its index in every input.
template <typename Function>
void resultOfIntegers(NodeBuilder &node, DataType type, Function function) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < node.inputCount(); ++i)
    shapes.push_back(node.in(i).shape);
  HostTensor out{type, *broadcastShape(shapes), {}, {}};
  const int64_t count = elementCount(out.shape, kMostFoldedElements);
  if (count < 0)
    throw NodeError{kShapes,
                    fmt::format("the result has more than {} elements", kMostFoldedElements)};
  std::vector<int64_t> at(shapes.size());
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < shapes.size(); ++k)
      at[k] = broadcastIndex(shapes[k], out.shape, i);
    out.ints.push_back(wrapToType(function(at), type));
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

} // namespace sluice::frontend::ops
