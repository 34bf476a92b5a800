// What is known of the numbers of every value of a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/conversion/scalar/number_bounds.h"

namespace sluice::rows {

/// The numbers of values, before they are rounded to be stored in rows.
using ValueNumbers = llvm::DenseMap<mlir::Value, Number>;

/// Returns the numbers of all values of a function after layout; `inputs` are those of its
/// arguments. Nothing is known of arguments beyond them.
ValueNumbers numbersOf(mlir::func::FuncOp function, const std::vector<Number> &inputs);

} // namespace sluice::rows
