// The dialect's attributes: data dimensions, nodes of the ONNX graph, monoids.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TensorEncoding.h"

#include "compiler/dialect/sluice/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/sluice/attributes.h.inc"
