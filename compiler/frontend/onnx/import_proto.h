// Import of a model that is already in memory: what importModel does after
// reading the file, and what tests call.
#pragma once

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::frontend {

/// As importModel; `options.path` is not read, `options.externalData` is where
/// external data is (empty: nowhere).
Import importProto(mlir::MLIRContext &context, const onnx::ModelProto &model,
                   const ImportOptions &options);

} // namespace sluice::frontend
