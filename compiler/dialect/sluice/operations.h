// The operations of the dialect; what each means and accepts is in ops.td.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/reference/axes.h"

#define GET_OP_CLASSES
#include "compiler/dialect/sluice/ops.h.inc"
