// A copy of a function that is changed to find out whether the change helps.
#pragma once

#include "compiler/layout/data_dimension.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

namespace sluice::layout {

/// A copy in a module of its own, with the options that go with it.
struct ChangedCopy {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::IRMapping mapping; ///< from the function to its copy
  mlir::FunctionOpInterface function;
  DataDimensionOptions options;

  ChangedCopy(mlir::FunctionOpInterface original, const DataDimensionOptions &from);

  [[nodiscard]] mlir::Operation *at(mlir::Operation *op) const { return mapping.lookup(op); }

  /// Makes a change at the copy of an operation. Erases what is not used any more, so that its rule
  /// asks for nothing. False if the operation cannot be changed by itself.
  bool apply(const ir::LayoutFix &fix, mlir::Operation *original);
};

} // namespace sluice::layout
