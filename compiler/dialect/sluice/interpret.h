// Runs blocks on plain tensors by their operations' reference interfaces.
#pragma once

#include <vector>

#include "compiler/reference/tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace sluice::ir {

/// The tensors that a block reads from around it, its arguments among them.
using Values = llvm::DenseMap<mlir::Value, const reference::Tensor *>;

/// Whether the results of an operation follow from the values that it reads.
bool isComputable(mlir::Operation *op);

/// Returns the results of such an operation in double precision.
reference::Tensors resultsOf(mlir::Operation *op, const Values &values);

/// What the block's terminator takes, every operation computed in double and not rounded.
/// All operations are constants or have a reference, shapes match (verified IR). `made` may change
/// what an operation of this block has made before others read it.
reference::Tensors interpret(mlir::Block &block, Values values,
                             llvm::function_ref<void(reference::Tensor &)> made = {});

/// The function's results for these arguments. It has one block.
reference::Tensors interpret(mlir::FunctionOpInterface function,
                             const reference::Tensors &arguments,
                             llvm::function_ref<void(reference::Tensor &)> made = {});

} // namespace sluice::ir
