// A model as textual IR: one function of the sluice dialect, as `sluice compile
// --emit graph` prints it or written by hand.
#pragma once

#include <string>

#include "compiler/frontend/onnx/import.h"
#include "compiler/support/problem.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace sluice::pipeline {

/// Reads the file; the function becomes @main. Tensors are named by
/// `sluice.name` or their location, else as in the text (`%h` is 'h').
/// Operations without a node become nodes themselves, in their order, with
/// their line. Null, and E0116, if the file is malformed or is no such function.
mlir::OwningOpRef<mlir::ModuleOp> readTextualModel(mlir::MLIRContext &context,
                                                   const std::string &path,
                                                   frontend::ImportedModel &info,
                                                   Problems &problems);

} // namespace sluice::pipeline
