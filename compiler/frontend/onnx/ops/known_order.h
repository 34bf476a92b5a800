// Which elements of a known tensor come first.
#pragma once

#include <cmath>

#include "compiler/frontend/onnx/host_tensor.h"

namespace sluice::frontend::ops {

/// Whether an element comes before another one: the greater one, or the smaller one. NaN comes
/// before every number.
struct KnownOrder {
  const HostTensor &x;
  bool smallest = false;

  bool operator()(int64_t one, int64_t other) const {
    if (!x.isFloat())
      return smallest ? x.ints[one] < x.ints[other] : x.ints[one] > x.ints[other];
    const float a = x.floats[one], b = x.floats[other];
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && !std::isnan(b);
    return smallest ? a < b : a > b;
  }
};

} // namespace sluice::frontend::ops
