// A convolution as operations: what a window sees, contracted with weights.
#pragma once

#include "compiler/frontend/onnx/ops/window.h"

namespace sluice::frontend::ops {

/// Most elements of weights that are written out over all groups.
inline constexpr int64_t kMaxDenseWeights = int64_t{1} << 26;

/// Sum over channels and window of `x` [batch, channels, spatial...] times `weights`
/// [features, channels, window...], which are known; [batch, features, positions...].
Tensor convolve(Emitter &emit, const Tensor &x, const Tensor &weights,
                const std::vector<WindowAxis> &windows);

/// Weights [features, channels of one group, window...] of `groups` as those of one: 0 from one
/// group to another. What is 0 costs nothing later.
Tensor acrossGroups(const Tensor &weights, int64_t groups);

/// y + bias, one per feature (axis 1).
Tensor biased(Emitter &emit, const Tensor &y, const Tensor &bias);

} // namespace sluice::frontend::ops
