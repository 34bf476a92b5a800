// Finds the last operation in the body of a map, and the operands of the map that the body reads.
#pragma once

#include "compiler/dialect/sluice/operations.h"

namespace sluice::ir {

/// Returns the operation that computes the result of a map; null if the result is an operand, or
/// without a map.
inline mlir::Operation *lastOf(MapOp map) {
  return map ? map.getBody().front().getTerminator()->getOperand(0).getDefiningOp() : nullptr;
}

/// Returns the operand of a map that a value of its body stands for, or null.
inline mlir::Value operandOf(MapOp map, mlir::Value scalar) {
  const auto argument = llvm::dyn_cast<mlir::BlockArgument>(scalar);
  return argument ? mlir::Value(map.getInputs()[argument.getArgNumber()]) : mlir::Value();
}

} // namespace sluice::ir
