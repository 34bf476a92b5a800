// The core dialect: programs of the machine as text (ops.td).
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "hw/isa/isa.h"
#include "runtime/format/geometry.h"

#include "compiler/dialect/core/dialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/core/ops.h.inc"

namespace sluice::core {

/// The instruction table's entry of an operation; null for core.program,
/// core.core and core.host.
const isa::InstructionInfo *instructionOf(mlir::Operation *op);

/// The words of an instruction; nothing, with an error at the operation, if a
/// value does not fit its field.
std::optional<isa::Words> encode(mlir::Operation *op);

/// Appends the instruction to a block. `nodes` may be empty. The words decode.
mlir::Operation *createInstruction(mlir::OpBuilder &builder, mlir::Location loc,
                                   const isa::Words &words, llvm::ArrayRef<int64_t> nodes);

mlir::DictionaryAttr geometryAttr(mlir::MLIRContext *context, const format::Geometry &geometry);

/// The geometry of a program for a target; nothing, with an error at the operation,
/// if a number is missing, unknown or out of range.
std::optional<format::Geometry> geometryOf(mlir::Operation *program, llvm::StringRef target,
                                           mlir::DictionaryAttr fields);
std::optional<format::Geometry> geometryOf(ProgramOp program);

} // namespace sluice::core
