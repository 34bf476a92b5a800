// The sums that averages of windows are made of.
#pragma once

#include <vector>

#include "compiler/frontend/onnx/ops/window.h"

namespace sluice::frontend::ops {

/// The sum of what each window sees, and the reciprocal of the number of elements that its average
/// divides by: one number, or one per position.
struct WindowSums {
  Tensor sums, factors;
};

/// The sums of `x` [batch, channels, spatial...] in the windows of an average pooling.
WindowSums windowSums(NodeBuilder &node, const Tensor &x);

} // namespace sluice::frontend::ops
