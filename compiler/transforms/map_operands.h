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

/// The operands of a map that a function of two reads.
struct OfTwo {
  mlir::Value first, second;
};

/// Returns the operands of a map that an operation of its body reads; nothing without an operation,
/// or if it reads something else.
inline std::optional<OfTwo> operandsOf(MapOp map, mlir::Operation *op) {
  const OfTwo result =
      op ? OfTwo{operandOf(map, op->getOperand(0)), operandOf(map, op->getOperand(1))} : OfTwo{};
  return result.first && result.second ? std::optional(result) : std::nullopt;
}

} // namespace sluice::ir
