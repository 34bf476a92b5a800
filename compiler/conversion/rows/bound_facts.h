// What the bounds of a function have in common.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "compiler/conversion/rows/certain_reads.h"
#include "compiler/conversion/rows/constant_values.h"

namespace sluice::rows {

/// Facts about a function after layout, which is not changed meanwhile.
struct BoundFacts {
  mlir::func::FuncOp function;
  ConstantValues constants;
  const CertainReads reads;

  explicit BoundFacts(mlir::func::FuncOp function)
      : function(function), reads(function, constants) {}
  BoundFacts(const BoundFacts &) = delete;
  BoundFacts &operator=(const BoundFacts &) = delete;
};

} // namespace sluice::rows
