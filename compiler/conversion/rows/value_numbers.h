// What is known of the numbers of every value of a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/conversion/scalar/number_bounds.h"
#include "runtime/format/host_tensor.h"

namespace sluice::rows {

/// The numbers of values, before they are rounded to be stored in rows.
using ValueNumbers = llvm::DenseMap<mlir::Value, Number>;

/// Returns the numbers of all values of a function after layout; `inputs` are its arguments as the
/// host sees them. Inputs of floating-point types are taken for the bf16 numbers that the host
/// makes of them.
ValueNumbers numbersOf(mlir::func::FuncOp function, const std::vector<format::HostTensor> &inputs);

} // namespace sluice::rows
