// What the host makes of the arguments and results of @main, in textual IR: there, every tensor is
// f32. The attribute `sluice.host` of an argument or result holds what is different.
#pragma once

#include <optional>
#include <string>

#include "compiler/frontend/onnx/import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sluice::pipeline {

/// Writes the attributes of @main for an imported model: types, accepted integers, tables,
/// quantisations and codes of indices. Tensors of float32 get none.
void setHostAttributes(mlir::func::FuncOp main, const frontend::ImportedModel &model);

/// Reads them into `model`, which has the names and shapes of the inputs and outputs. Returns what
/// is wrong with them, or nothing.
std::optional<std::string> readHostAttributes(mlir::func::FuncOp main,
                                              frontend::ImportedModel &model);

} // namespace sluice::pipeline
