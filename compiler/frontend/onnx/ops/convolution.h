// A convolution as operations: what a window sees, contracted with weights.
#pragma once

#include <optional>

#include "compiler/frontend/onnx/ops/window.h"

namespace sluice::frontend::ops {

/// An entry without requirements: X, W and B, the attributes of a window, and group.
Operator convolution(std::string name, std::string form);

/// Where an operator has weights and bias, and what it calls its inputs; x is input 0.
struct ConvInputs {
  size_t weights = 1;
  std::optional<size_t> bias = 2;
  const char *x = "X", *w = "W", *b = "B";
};

/// The extents of the window in the weights.
Shape kernelOf(const NodeView &node, size_t weights = 1);

/// "input 'W' has the rank of 'X' and no extent of 0" (E0206).
Requirement weightsHaveRank(const ConvInputs &at = {});
/// "attribute 'kernel_shape' is that of 'W'" (E0206).
Requirement kernelShapeFits(const ConvInputs &at = {});
/// "known weights written out over all groups have at most ..." (E0205); axis 1 of them is of one.
Requirement weightsFitOverGroups(size_t weights = 1);
/// All that holds of the shapes and attributes of a convolution with `groups` of channels.
std::vector<Requirement> convolutionFits(const ConvInputs &at = {}, bool hasAutoPad = true);

/// Sum over the channels of a group and the window of `x` [batch, channels, spatial...] times
/// `weights` [features, channels of one group, window...]; [batch, features, positions...].
Tensor convolve(Emitter &emit, const Tensor &x, const Tensor &weights,
                const std::vector<WindowAxis> &windows, int64_t groups = 1);

/// y + bias, one per feature (axis 1).
Tensor biased(Emitter &emit, const Tensor &y, const Tensor &bias);

} // namespace sluice::frontend::ops
