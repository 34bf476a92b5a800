// The operations of a block that a value depends on: of a map's body, or of a function.
#pragma once

#include <optional>

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace sluice::ir {

/// The part of a block that computes a value.
struct Cone {
  llvm::SmallVector<mlir::Operation *, 8> body; ///< operands first
  llvm::SmallSetVector<mlir::BlockArgument, 4> arguments;
};

/// Returns the part of its block that computes a value.
Cone coneOf(mlir::Value value);

/// Returns the value of a scalar that depends on no operand of the map; nothing for other scalars.
/// Booleans are 0 and 1.
std::optional<double> constantScalar(mlir::Value scalar);

} // namespace sluice::ir
