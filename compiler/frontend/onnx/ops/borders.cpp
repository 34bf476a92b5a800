#include "compiler/frontend/onnx/ops/borders.h"

#include <fmt/format.h>

namespace sluice::frontend::ops {

Tensor withBorder(Emitter &emit, const Tensor &x, const Shape &low, const Shape &high, float number,
                  int64_t integer) {
  if (isFloatType(x.type))
    return emit.pad(x, low, high, number);
  if (!x.known) {
    if (!isExact(integer))
      throw NodeError{kNotSupported, fmt::format("border value {} is not exact in bf16", integer)};
    return emit.pad(x, low, high, static_cast<float>(integer));
  }
  Shape shape = x.shape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] += low[axis] + high[axis];
  const int64_t count = elementCount(shape, kMostFoldedElements);
  if (count < 0)
    throw NodeError{kShapes,
                    fmt::format("the result has more than {} elements", kMostFoldedElements)};
  HostTensor out{x.type, shape, {}, std::vector<int64_t>(count, integer)};
  const Shape strides = stridesOf(shape), from = stridesOf(x.shape);
  for (int64_t i = 0; i < x.known->size(); ++i) {
    int64_t to = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      to += (i / from[axis] % x.shape[axis] + low[axis]) * strides[axis];
    out.ints[to] = x.known->ints[i];
  }
  return Tensor::ofKnown(std::move(out));
}

} // namespace sluice::frontend::ops
