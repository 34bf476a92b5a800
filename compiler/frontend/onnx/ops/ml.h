// What the operators of ai.onnx.ml share.
#pragma once

#include "compiler/frontend/onnx/ops/common.h"

namespace sluice::frontend::ops {

/// Requires 'X' to be [samples, features] or [features] (E0206).
Requirement rowsOfFeatures();

} // namespace sluice::frontend::ops
