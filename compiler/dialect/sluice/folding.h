// What a function computes from constants, counted before anything is computed.
#pragma once

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

#include "compiler/reference/tensor.h"
#include "compiler/support/problem_fwd.h"

namespace sluice::ir {

/// Problems (E0205) of operations on constants whose results are too large, and of the first one
/// with which all of them together take too long. In time linear in the operations.
Problems foldingProblems(mlir::FunctionOpInterface function);

/// Returns how many scalar operations, products or elements one execution of an operation on
/// constants takes, without the loops inside it.
uint64_t foldingWork(mlir::Operation *op);

/// Returns the results of an operation that depends on constants alone; nothing for others.
std::optional<reference::Tensors> constantResults(mlir::Operation *op);

/// Returns the elements of a value that depends on constants alone; nothing for others.
std::optional<reference::Tensor> constantValue(mlir::Value value);

} // namespace sluice::ir
