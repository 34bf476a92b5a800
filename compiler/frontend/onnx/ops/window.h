// Windows of convolutions and poolings: attributes to positions, and what is seen at them.
#pragma once

#include <vector>

#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend::ops {

/// A window along one spatial axis: position `i` and element `k` are element
/// `i * stride + k * dilation - low` of the input.
struct WindowAxis {
  int64_t extent = 1; ///< of the input
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t low = 0, high = 0; ///< pads; low may be negative: it starts behind the first element
  int64_t count = 1;         ///< positions

  /// Elements from the first to the last one seen at a position.
  int64_t reach() const { return (size - 1) * dilation + 1; }
};

/// 2, or 1 if the attribute 'channels_last' puts the channels of input 0 behind the spatial axes.
size_t firstSpatialAxis(const NodeView &node);

/// auto_pad, strides, dilations and pads; kernel_shape is the operator's own.
std::vector<AttributeSpec> windowAttributes(bool hasDilations = true);

/// "input 'X' has rank 3 or more: ..." (E0206).
Requirement hasSpatialAxes(const char *input = "X");
/// "attribute 'strides' has one element per spatial axis, ..." (E0206), if it is given.
Requirement perSpatialAxis(const std::string &attribute);
/// "attribute 'pads' has two elements per spatial axis, ..." (E0206), if it is given.
Requirement padsPerSpatialAxis();
/// What holds of auto_pad and pads (E0206).
std::vector<Requirement> padRequirements();
/// "the window fits into the padded input" (E0206).
Requirement windowFits(std::function<Shape(const NodeView &)> sizes);

/// The elements of a list with one per spatial axis; 1 where it is left out.
Shape perAxis(const NodeView &node, const std::string &attribute);

/// The windows of `sizes` over the spatial axes of input 0, as the attributes place them.
/// `roundUp`: a last position may leave the padded input, if it starts inside (ceil_mode). `crops`:
/// SAME pads may be negative, where the stride is longer than the window. Windows begin behind the
/// first elements then: so do those of pooling in onnxruntime, but not those of convolution.
std::vector<WindowAxis> windowAxes(const NodeView &node, const Shape &sizes, bool roundUp = false,
                                   bool crops = false);

/// Whether every element is inside the input at each position.
bool staysInside(const WindowAxis &axis);

/// What the windows see of `x` [batch, channels, spatial...]: positions in place of the spatial
/// axes, and behind them an axis of elements for each window of more than one. Outside it is
/// `outside`.
Tensor seen(Emitter &emit, const Tensor &x, const std::vector<WindowAxis> &windows, float outside);

} // namespace sluice::frontend::ops
