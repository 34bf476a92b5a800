// A border of one number around a tensor.
#pragma once

#include <cstdint>

#include "compiler/frontend/onnx/emitter.h"

namespace sluice::frontend::ops {

/// So many elements before and behind each axis of `x`: `number`, or `integer` around integers and
/// bools, which are known.
Tensor withBorder(Emitter &emit, const Tensor &x, const Shape &low, const Shape &high, float number,
                  int64_t integer);

} // namespace sluice::frontend::ops
