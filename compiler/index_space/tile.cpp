#include "compiler/index_space/tile.h"

#include <cstdlib>
#include <numeric>

#include "compiler/index_space/points.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace sluice::space {
namespace {

/// What a piece writes to tile 0, and how far the next tile is from it in the operand.
struct TiledPiece {
  Piece piece;
  Extents move; ///< along each axis of the operand
};

/// The loops of a piece, divided into those within a tile and those from tile to tile.
class TileLoops {
public:
  TileLoops(const Piece &whole, const Cut &cut)
      : cut(cut), tile{whole.operand, whole.from, whole.to, {}} {
    for (const Piece::Loop &loop : whole.loops)
      divide(loop);
  }

  /// Nothing if the piece does not write to each of `tiles` tiles, or if the tiles are not equally
  /// far apart in the operand.
  std::optional<TiledPiece> evenly(int64_t tiles) {
    if (!isEven || rangeOf(tile, true, cut.axis).second >= cut.block)
      return std::nullopt;
    llvm::sort(between, [](const Between &a, const Between &b) { return a.tiles < b.tiles; });
    int64_t covered = 1;
    Extents move(tile.from.size(), 0);
    for (const auto &[distance, extent, from] : between) {
      if (distance != covered)
        return std::nullopt;
      if (covered == 1)
        move = from;
      for (auto [step, one] : llvm::zip_equal(from, move))
        if (step != one * distance)
          return std::nullopt;
      covered *= extent;
    }
    if (covered < tiles)
      return std::nullopt;
    return TiledPiece{std::move(tile), std::move(move)};
  }

private:
  /// A loop from tile to tile.
  struct Between {
    int64_t tiles, extent; ///< distance of two iterations in tiles, and their number
    Extents from;          ///< their distance in the operand
  };

  const Cut &cut;
  Piece tile;
  llvm::SmallVector<Between, 2> between;
  bool isEven = true; ///< no loop steps from one tile into the middle of another

  void divide(Piece::Loop loop) {
    if (loop.extent == 1)
      return;
    if (loop.to[cut.axis] < 0)
      turn(loop);
    const int64_t step = loop.to[cut.axis];
    if (step * loop.extent <= cut.block) { // not along the axis, or within a tile
      tile.loops.push_back(loop);
      return;
    }
    isEven &= llvm::count_if(loop.to, [](int64_t one) { return one != 0; }) == 1;
    if (step >= cut.block) {
      isEven &= step % cut.block == 0;
      between.push_back({step / cut.block, loop.extent, loop.from});
    } else {
      isEven &= cut.block % step == 0;
      const int64_t within = cut.block / step;
      Between rest{1, loop.extent / within, loop.from};
      for (int64_t &along : rest.from)
        along *= within;
      between.push_back(std::move(rest));
      loop.extent = within;
      tile.loops.push_back(loop);
    }
  }

  /// Makes the last point of a loop the first.
  void turn(Piece::Loop &loop) {
    const auto turnSide = [&](Extents &start, Extents &steps) {
      for (auto [index, step] : llvm::zip_equal(start, steps)) {
        index += step * (loop.extent - 1);
        step = -step;
      }
    };
    turnSide(tile.from, loop.from);
    turnSide(tile.to, loop.to);
  }
};

/// What tile 0 reads of an operand along the axis by which the next tile reads elsewhere.
struct Along {
  std::optional<size_t> axis; ///< nothing: all tiles read the same
  int64_t move = 0;           ///< to the next tile
  int64_t low = 0, high = 0, spacing = 0;
};

struct TiledView {
  std::vector<TiledPiece> pieces;
  llvm::SmallVector<Along, 2> operands;
};

int64_t tilesOf(ExtentsRef shape, const Cut &cut) { return shape[cut.axis] / cut.block; }

/// Adds what a piece reads. Returns false if it does not move as the pieces before do.
bool add(Along &along, const TiledPiece &tiled, bool isFirst) {
  std::optional<size_t> axis;
  for (auto [index, step] : llvm::enumerate(tiled.move))
    if (step != 0) {
      if (axis)
        return false;
      axis = index;
    }
  const int64_t move = axis ? tiled.move[*axis] : 0;
  if (!isFirst && (axis != along.axis || move != along.move))
    return false;
  along.axis = axis;
  along.move = move;
  if (!axis)
    return true;
  int64_t low = tiled.piece.from[*axis], high = low;
  for (const Piece::Loop &loop : tiled.piece.loops) {
    const int64_t step = loop.from[*axis];
    (step < 0 ? low : high) += step * (loop.extent - 1);
    along.spacing = std::gcd(along.spacing, step);
  }
  if (!isFirst)
    along.spacing = std::gcd(along.spacing, low - along.low);
  along.low = isFirst ? low : std::min(low, along.low);
  along.high = isFirst ? high : std::max(high, along.high);
  return true;
}

std::optional<TiledView> tiled(const Pieces &view, const Cut &cut) {
  TiledView result;
  result.operands.resize(view.operands.size());
  llvm::SmallVector<bool> isRead(view.operands.size(), false);
  for (const Piece &piece : view.pieces) {
    auto one = TileLoops(piece, cut).evenly(tilesOf(view.result, cut));
    if (!one || !add(result.operands[piece.operand], *one, !isRead[piece.operand]))
      return std::nullopt;
    isRead[piece.operand] = true;
    result.pieces.push_back(std::move(*one));
  }
  for (Along &along : result.operands)
    along.spacing = std::max<int64_t>(along.spacing, 1);
  return result;
}

/// Returns the tiles of an operand that the tiles of the result are read from, if these read all of
/// each.
std::optional<Cut> wholeTiles(const Along &along, int64_t extent, const Cut &cut, int64_t tiles) {
  const int64_t block = std::abs(along.move);
  const int64_t first = along.move < 0 ? (tiles - 1) * block : 0;
  if (along.spacing != 1 || along.low != first || along.high != first + block - 1 ||
      extent / block != tiles || (along.move < 0 && extent % block != 0))
    return std::nullopt;
  return Cut{static_cast<int64_t>(*along.axis), block, cut.mirrored != (along.move < 0)};
}

/// Returns the cut of a tensor along the axis of a loop; nothing if the loop does not move along
/// it.
std::optional<Cut> alongLoop(const Projection &tensor, unsigned loop, const Cut &cut) {
  const auto axis = tensor.axisAlong(loop);
  return axis ? std::optional(Cut{*axis, cut.block, cut.mirrored}) : std::nullopt;
}

} // namespace

std::optional<Needs> readsOf(const IndexSpace &space, const Cut &cut) {
  const auto loop = space.results[0].loopAlong(cut.axis);
  if (!loop)
    return std::nullopt;
  Needs needs;
  for (const Projection &operand : space.operands)
    needs.emplace_back(alongLoop(operand, *loop, cut));
  return needs;
}

std::optional<Cut> tileFrom(const IndexSpace &space, unsigned operand, const Cut &cut) {
  const auto loop = space.operands[operand].loopAlong(cut.axis);
  return loop ? alongLoop(space.results[0], *loop, cut) : std::nullopt;
}

std::optional<Needs> readsOf(const Pieces &view, const Cut &cut, ExtentsRef windows) {
  const auto found = tiled(view, cut);
  if (!found)
    return std::nullopt;
  Needs needs;
  for (auto [along, shape] : llvm::zip_equal(found->operands, view.operands)) {
    if (!along.axis) {
      needs.emplace_back(std::nullopt);
      continue;
    }
    const auto axis = static_cast<int64_t>(*along.axis);
    const auto whole = wholeTiles(along, shape[axis], cut, tilesOf(view.result, cut));
    if (whole && !llvm::is_contained(windows, axis))
      needs.emplace_back(*whole);
    else if (along.move > 0 && !cut.mirrored)
      needs.emplace_back(Slab{axis, along.low, along.move, along.spacing,
                              (along.high - along.low) / along.spacing + 1});
    else
      return std::nullopt;
  }
  return needs;
}

std::optional<Cut> tileFrom(const Pieces &view, unsigned operand, const Cut &cut,
                            ExtentsRef windows) {
  const auto follows = [&](const Cut &tile) {
    const auto needs = readsOf(view, tile, windows);
    if (!needs)
      return false;
    const Need &need = (*needs)[operand];
    return need.cut == cut || (need.slab && !cut.mirrored && need.slab->axis == cut.axis &&
                               need.slab->step == cut.block &&
                               tilesOf(view.result, tile) == tilesOf(view.operands[operand], cut));
  };
  std::optional<int64_t> first; // axis of the result along which the operand is read
  for (const Piece &piece : view.pieces)
    for (const Piece::Loop &loop : piece.loops) {
      const int64_t step = std::abs(loop.from[cut.axis]);
      if (piece.operand != operand || step == 0)
        continue;
      for (auto [axis, to] : llvm::enumerate(loop.to)) {
        if (to == 0)
          continue;
        Cut tile{static_cast<int64_t>(axis), cut.block / step * std::abs(to), false};
        if (!first)
          first = tile.axis;
        if (cut.block % step == 0 && tile.block <= view.result[axis])
          for (const bool mirrored : {false, true}) {
            tile.mirrored = mirrored;
            if (follows(tile))
              return tile;
          }
      }
    }
  // Slabs do not need tiles of the operand: the smallest tiles.
  if (!first || cut.mirrored)
    return std::nullopt;
  const auto needs = readsOf(view, Cut{*first, 1}, windows);
  return needs && (*needs)[operand].slab ? std::optional(Cut{*first, 1}) : std::nullopt;
}

Pieces tileOf(const Pieces &view, const Cut &cut, llvm::ArrayRef<ExtentsRef> operands,
              std::optional<int64_t> missing) {
  TiledView parts = *tiled(view, cut);
  Pieces tile{{}, view.result, {}, std::nullopt};
  tile.result[cut.axis] = cut.block;
  for (const ExtentsRef shape : operands)
    tile.operands.emplace_back(shape);
  for (TiledPiece &part : parts.pieces) {
    Piece &piece = tile.pieces.emplace_back(std::move(part.piece));
    const Along &along = parts.operands[piece.operand];
    if (!along.axis)
      continue;
    int64_t &from = piece.from[*along.axis];
    if (along.move < 0) { // the operand is the tile that tile 0 reads, the last one
      from -= (tilesOf(view.result, cut) - 1) * -along.move;
    } else if (missing) {
      from = (from - along.low) / along.spacing - *missing;
      for (Piece::Loop &loop : piece.loops)
        loop.from[*along.axis] /= along.spacing;
    }
  }
  if (llvm::any_of(tile.pieces, [&](const Piece &piece) { return leaves(tile, piece); }))
    tile.outside = view.outside;
  return tile;
}

} // namespace sluice::space
