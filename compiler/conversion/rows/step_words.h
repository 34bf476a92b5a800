// The step of a row as the words that the rows dialect writes, and back.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include "compiler/conversion/row.h"

namespace sluice::rows {

/// Null if the step passes its operand on. The table is not part of it.
mlir::DictionaryAttr stepWords(mlir::MLIRContext *context, const VectorStep &step);

/// Of words that are verified; null is the step that passes on.
VectorStep stepOf(mlir::DictionaryAttr words);

} // namespace sluice::rows
