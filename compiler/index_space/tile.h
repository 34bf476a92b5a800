// Tiles along one axis: what a tile of the result reads of the operands. It follows from the
// projections of an operation, and from the pieces of a view.
#pragma once

#include "compiler/index_space/pieces.h"

namespace sluice::space {

/// Tiles of a tensor along an axis, one for each iteration of a loop. Tile t has the indices from
/// t * block to (t + 1) * block - 1. If the cut is mirrored, these are the indices of tile
/// `iterations` - 1 - t. What is left over behind the last tile belongs to none.
struct Cut {
  int64_t axis = 0;
  int64_t block = 1;
  bool mirrored = false;

  bool operator==(const Cut &) const = default;
};

/// A tile with its halo: in iteration t, `size` indices along an axis, `spacing` apart, from
/// first + t * step. Other iterations may read some of them too, or they may lie outside.
struct Slab {
  int64_t axis = 0;
  int64_t first = 0, step = 1, spacing = 1, size = 1;

  auto operator<=>(const Slab &) const = default;
};

/// What an iteration reads of an operand: a tile, a slab, or else everything.
struct Need {
  Need(std::nullopt_t) {}
  Need(const Cut &cut) : cut(cut) {}
  Need(std::optional<Cut> cut) : cut(cut) {}
  Need(const Slab &slab) : slab(slab) {}

  std::optional<Cut> cut;
  std::optional<Slab> slab;
};

/// By operand.
using Needs = llvm::SmallVector<Need, 2>;

/// Returns what a tile of the result of an operation reads of every operand. Nothing: no loop of
/// the operation alone runs along the axis.
std::optional<Needs> readsOf(const IndexSpace &space, const Cut &cut);

/// Returns the tiles of the result that read the tiles of an operand; nothing if there are none.
std::optional<Cut> tileFrom(const IndexSpace &space, unsigned operand, const Cut &cut);

/// Returns what a tile of the result of a view reads of every operand. Nothing: the iterations do
/// not read equal parts of the operands at equal distances. `windows` has the axes of the operands
/// along which a tile is a slab even where it has no halo.
std::optional<Needs> readsOf(const Pieces &view, const Cut &cut, ExtentsRef windows = {});

/// The same of a view.
std::optional<Cut> tileFrom(const Pieces &view, unsigned operand, const Cut &cut,
                            ExtentsRef windows = {});

/// Returns the view that computes one tile of the result from operands of these shapes: the parts
/// that readsOf describes. With `missing`, a slab lacks that many elements at its start that lie
/// outside. Otherwise a slab lies within the tile of the iteration, and the operand is that tile.
Pieces tileOf(const Pieces &view, const Cut &cut, llvm::ArrayRef<ExtentsRef> operands,
              std::optional<int64_t> missing);

} // namespace sluice::space
