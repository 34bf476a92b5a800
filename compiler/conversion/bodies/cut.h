// Tiles of the operations of the sluice dialect, one for each iteration of a loop over positions.
#pragma once

#include <cstdint>
#include <optional>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

#include "compiler/conversion/rows/program.h"
#include "compiler/index_space/tile.h"

namespace sluice::bodies {

using space::Cut;
using space::Need;
using space::Needs;
using space::Slab;

/// Returns what a tile of the result of an operation reads of every operand. Nothing: there are no
/// such tiles.
std::optional<Needs> readsOf(mlir::Operation *op, const Cut &cut);

/// Returns the tiles of the result that read the tiles of an operand; nothing if there are none.
std::optional<Cut> tileFrom(mlir::Operation *op, unsigned operand, const Cut &cut);

/// Builds the operation for one tile of the result, of this type, from what readsOf says of every
/// operand. With `missing`, a slab lacks that many elements at its start that lie outside (and
/// perhaps some at its end). Otherwise a slab lies within the tile of the iteration, and the
/// operand is that tile.
mlir::Operation *makeTile(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange operands,
                          mlir::RankedTensorType type, const Cut &cut,
                          std::optional<int64_t> missing);

/// Returns the axes of the first operand along which a window slides: a loop over positions may
/// begin here.
llvm::SmallVector<int64_t, 2> windowAxes(mlir::Operation *op);

} // namespace sluice::bodies
