// Which operands matrix units read as rows.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/conversion/rows/constant_values.h"
#include "compiler/index_space/projection.h"
#include "mlir/IR/Operation.h"

namespace sluice::rows {

/// Returns the operand of a product or of a sum that matrix units read as rows; nothing if it is
/// constant, or if the operation is neither.
std::optional<unsigned> operandReadAsRows(mlir::Operation &op);

/// Returns the rows of a tensor that hold a box of its elements.
uint64_t rowsOf(mlir::Value value, const space::Region &region, int64_t lanes);

/// Whether a view reads rows of its operand as rows: those of a dynamic relayout become weights.
bool readsRows(mlir::Operation *view);

/// Whether rows of a value, or of views and affine functions of it, may be written into weight
/// blocks instead of being stored.
bool mayBecomeWeights(mlir::Value value, ConstantValues &constants);

} // namespace sluice::rows
