// Types and shapes that libonnx infers.
#pragma once

#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::reduce {

/// Declares what libonnx infers of the tensors of a model. It may throw, and crash on models that
/// are newer than it.
void inferTypes(onnx::ModelProto &model);

} // namespace sluice::reduce
