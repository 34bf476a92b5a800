// What all instruction operations share.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace sluice::core {

mlir::ParseResult parseInstruction(mlir::OpAsmParser &parser, mlir::OperationState &result);
void printInstruction(mlir::OpAsmPrinter &printer, mlir::Operation *op);
mlir::LogicalResult verifyInstruction(mlir::Operation *op);

} // namespace sluice::core
