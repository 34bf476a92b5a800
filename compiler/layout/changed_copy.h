// A copy of a function, on which a change is tried.
#pragma once

#include "compiler/layout/data_dimension.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

namespace sluice::layout {

/// A copy of a function in a module of its own. `options` refer to the values of the copy.
struct ChangedCopy {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::IRMapping mapping; ///< from the function to its copy
  mlir::FunctionOpInterface function;
  DataDimensionOptions options;

  ChangedCopy(mlir::FunctionOpInterface original, const DataDimensionOptions &from);

  /// Returns the copy of an operation of the original function.
  [[nodiscard]] mlir::Operation *at(mlir::Operation *op) const { return mapping.lookup(op); }

  /// Applies a fix to the copy of `original` and erases operations that are then unused. Returns
  /// false if the fix does not apply to this operation alone.
  bool apply(const ir::LayoutFix &fix, mlir::Operation *original);
};

} // namespace sluice::layout
