// The rows dialect: a model as bodies and families of rows (ops.td).
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/rows/dialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/rows/types.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/rows/ops.h.inc"
