// Normalisations as operations, for what contains one.
#pragma once

#include <optional>

#include "compiler/frontend/onnx/emitter.h"

namespace sluice::frontend::ops {

struct Normalised {
  Tensor y;
  Tensor mean, inverse; ///< over the axes, which are kept; no mean of one by the root mean square
};

/// (x - mean) / sqrt(variance + epsilon) * scale + bias, over `axes`.
Normalised normalised(Emitter &emit, const Tensor &x, const Shape &axes, float epsilon,
                      const Tensor &scale, const std::optional<Tensor> &bias);

/// x / sqrt(mean of x^2 + epsilon) * scale, over `axes`.
Normalised normalisedByRms(Emitter &emit, const Tensor &x, const Shape &axes, float epsilon,
                           const Tensor &scale);

/// x / sqrt(sum of x^2), or x / sum of |x|, along `axis`; 0 where the sum is 0.
Tensor normalisedByLength(Emitter &emit, const Tensor &x, int64_t axis, bool euclidean);

} // namespace sluice::frontend::ops
