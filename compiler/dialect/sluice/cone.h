// The scalars of a map's body that another scalar depends on.
#pragma once

#include <optional>

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace sluice::ir {

/// The part of a map's body that computes a scalar.
struct Cone {
  llvm::SmallVector<mlir::Operation *, 8> body; ///< operands first
  llvm::SmallSetVector<mlir::BlockArgument, 4> arguments;
};

/// Returns the part of a map's body that computes a scalar of it.
Cone coneOf(mlir::Value scalar);

/// Returns the value of a scalar that depends on no operand of the map; nothing for other scalars.
/// Booleans are 0 and 1.
std::optional<double> constantScalar(mlir::Value scalar);

} // namespace sluice::ir
