// Runs a function on plain tensors by its operations' reference interfaces.
#pragma once

#include <vector>

#include "compiler/reference/tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace sluice::ir {

/// The function's results for these arguments, every operation computed in
/// double and not rounded. The function has one block; all its operations are
/// constants or have a reference, shapes match (verified IR).
std::vector<reference::Tensor> interpret(mlir::FunctionOpInterface function,
                                         std::vector<reference::Tensor> arguments);

} // namespace sluice::ir
