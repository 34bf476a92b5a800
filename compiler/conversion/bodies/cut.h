// Cutting a tensor along one axis into equal blocks, one for every trip of a
// loop over positions, and what each operation of the sluice dialect makes of it.
#pragma once

#include <cstdint>
#include <optional>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

#include "compiler/conversion/rows/program.h"

namespace sluice::bodies {

/// Block t of a tensor are the elements whose index along `axis` is in
/// [t * block, (t + 1) * block); mirrored, those of block trips - 1 - t. Extents are
/// trips * block.
struct Cut {
  int64_t axis = 0;
  int64_t block = 1;
  bool mirrored = false;

  bool operator==(const Cut &) const = default;
};

/// By operand: the cut of which block t is read in trip t; nothing: all of it is
/// read in every trip.
using OperandCuts = llvm::SmallVector<std::optional<Cut>, 2>;

/// A tensor's type with one block instead of all of them along the cut.
mlir::RankedTensorType blockType(mlir::RankedTensorType type, const Cut &cut);

/// Attaches the models of the dialect's operations. Idempotent.
void registerCutModels(mlir::MLIRContext &context);

} // namespace sluice::bodies

#include "compiler/conversion/bodies/interface.h.inc"
