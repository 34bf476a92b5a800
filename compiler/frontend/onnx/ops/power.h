// Powers, for what contains one.
#pragma once

#include "compiler/frontend/onnx/scalars.h"

namespace sluice::frontend::ops {

/// x to a known power. One function table computes few of them; others are taken apart into whole
/// powers, roots, and exp(r * log(x)) with |r| <= 1/8, which keeps what rounding r * log(x) costs
/// small. Exponents above 1024 stay with the table.
mlir::Value power(const Scalars &s, mlir::Value x, float exponent);

} // namespace sluice::frontend::ops
