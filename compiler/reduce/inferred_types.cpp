#include "compiler/reduce/inferred_types.h"

#include <onnx/shape_inference/implementation.h>

namespace sluice::reduce {

void inferTypes(onnx::ModelProto &model) { onnx::shape_inference::InferShapes(model); }

} // namespace sluice::reduce
