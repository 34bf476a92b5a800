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

/// Elements along an axis in trip t: element j of `size` is first + t * step + j * spacing. What
/// windows see overlaps from trip to trip, and some of it may lie outside.
struct Slab {
  int64_t axis = 0;
  int64_t first = 0, step = 1, spacing = 1, size = 1;

  auto operator<=>(const Slab &) const = default;
};

/// What a trip reads of an operand: block t of a cut, a slab, or else all of it.
struct Need {
  Need(std::nullopt_t) {}
  Need(const Cut &cut) : cut(cut) {}
  Need(std::optional<Cut> cut) : cut(cut) {}
  Need(const Slab &slab) : slab(slab) {}

  std::optional<Cut> cut;
  std::optional<Slab> slab;
};

/// By operand.
using OperandCuts = llvm::SmallVector<Need, 2>;

/// A tensor's type with one block instead of all of them along the cut.
mlir::RankedTensorType blockType(mlir::RankedTensorType type, const Cut &cut);

/// Attaches the models of the dialect's operations. Idempotent.
void registerCutModels(mlir::MLIRContext &context);

} // namespace sluice::bodies

#include "compiler/conversion/bodies/interface.h.inc"
