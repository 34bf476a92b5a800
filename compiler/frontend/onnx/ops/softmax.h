// Softmax as operations, for what contains one.
#pragma once

#include "compiler/frontend/onnx/emitter.h"

namespace sluice::frontend::ops {

/// With d = x - max(x) over `axes`: exp(d) / sum(exp(d)), or its logarithm d - log(sum(exp(d))).
Tensor softmax(Emitter &emit, const Tensor &x, const Shape &axes, bool logarithm);

} // namespace sluice::frontend::ops
