#include "compiler/index_space/pieces.h"

#include <cstdlib>

#include "compiler/index_space/points.h"
#include "runtime/addressing/addressing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::space {
namespace {

/// Returns whether a piece writes the element of the result at `index`. `from` becomes the index in
/// the operand.
bool finds(const Piece &piece, ExtentsRef index, Extents &from) {
  // The longest steps first: what is left is within the steps of the loops that follow.
  llvm::SmallVector<std::pair<int64_t, const Piece::Loop *>> loops;
  Extents left(index);
  add(left, piece.to, -1);
  from = piece.from;
  for (const Piece::Loop &loop : piece.loops) {
    int64_t longest = 0;
    for (auto [axis, step] : llvm::enumerate(loop.to)) {
      longest = std::max(longest, std::abs(step));
      if (step < 0) // counted from the other end
        left[axis] -= step * (loop.extent - 1);
    }
    loops.emplace_back(longest, &loop);
  }
  llvm::sort(loops, [](const auto &a, const auto &b) { return a.first > b.first; });
  for (const auto &[longest, loop] : loops) {
    int64_t point = 0;
    for (auto [axis, step] : llvm::enumerate(loop->to))
      if (step != 0) {
        const int64_t steps = std::clamp<int64_t>(left[axis] / std::abs(step), 0, loop->extent - 1);
        left[axis] -= steps * std::abs(step);
        point = step < 0 ? loop->extent - 1 - steps : steps;
      }
    add(from, loop->from, point);
  }
  return llvm::all_of(left, [](int64_t rest) { return rest == 0; });
}

/// Consecutive iterations of a loop, or indices along an axis.
struct Range {
  int64_t low = 0, high = 0;
};
using Ranges = llvm::SmallVector<Range, 4>;

/// Adds what the iterations of a loop add to an index.
void add(Range &index, int64_t step, const Range &iterations) {
  index.low += step * (step < 0 ? iterations.high : iterations.low);
  index.high += step * (step < 0 ? iterations.low : iterations.high);
}

/// Returns for each loop the iterations that may write to a box of the result; nothing if there are
/// none. An iteration is left out if no iterations of the other loops lead to the box from it.
std::optional<Ranges> writing(const Piece &piece, const Region &box) {
  Ranges ranges;
  for (const Piece::Loop &loop : piece.loops)
    ranges.push_back({0, loop.extent - 1});
  for (const size_t axis : llvm::seq(box.start.size())) {
    for (const size_t one : llvm::seq(ranges.size())) {
      Range others{piece.to[axis], piece.to[axis]};
      for (auto [index, loop] : llvm::enumerate(piece.loops))
        if (index != one)
          add(others, loop.to[axis], ranges[index]);
      const int64_t step = piece.loops[one].to[axis];
      int64_t least = box.start[axis] - others.high, most = box.end(axis) - 1 - others.low;
      if (step == 0 ? least > 0 || most < 0 : least > most)
        return std::nullopt;
      if (step == 0)
        continue;
      if (step < 0)
        std::swap(least, most);
      ranges[one].low = std::max(ranges[one].low, llvm::divideCeilSigned(least, step));
      ranges[one].high = std::min(ranges[one].high, llvm::divideFloorSigned(most, step));
      if (ranges[one].low > ranges[one].high)
        return std::nullopt;
    }
  }
  return ranges;
}

} // namespace

bool leaves(const Pieces &view, const Piece &piece) {
  return llvm::any_of(llvm::enumerate(view.operands[piece.operand]), [&](auto axis) {
    const auto [low, high] = rangeOf(piece, false, axis.index());
    return low < 0 || high >= axis.value();
  });
}

Piece loopsOver(ExtentsRef result, size_t operandRank) {
  Piece piece{0, Extents(operandRank, 0), Extents(result.size(), 0), {}};
  for (auto [axis, extent] : llvm::enumerate(result)) {
    piece.loops.push_back({extent, piece.from, piece.to});
    piece.loops.back().to[axis] = 1;
  }
  return piece;
}

std::vector<Source> sourcesOf(const Pieces &view) {
  const int64_t size = wholeOf(view.result).size();
  std::vector<Source> sources(static_cast<size_t>(size));
  for (const Piece &piece : view.pieces) {
    const ExtentsRef shape = view.operands[piece.operand];
    forEachPoint(piece, [&](ExtentsRef from, ExtentsRef to) {
      if (isInside(from, shape))
        sources[static_cast<size_t>(addressing::rowMajorPosition(to, view.result))] = {
            piece.operand, addressing::rowMajorPosition(from, shape)};
    });
  }
  return sources;
}

Source sourceOf(const Pieces &view, ExtentsRef index) {
  Extents from;
  for (const Piece &piece : view.pieces) {
    if (!finds(piece, index, from))
      continue;
    const ExtentsRef shape = view.operands[piece.operand];
    if (!isInside(from, shape))
      return {};
    return {piece.operand, addressing::rowMajorPosition(from, shape)};
  }
  return {};
}

std::optional<Selected> selectedFrom(const Pieces &view, const Selection &selection) {
  Selected found{0, selection};
  auto &[starts, sizes, steps] = found.elements;
  const auto piece = llvm::find_if(
      view.pieces, [&](const Piece &one) { return finds(one, selection.starts, starts); });
  const auto isAlongOne = [](const Piece::Loop &loop) {
    return llvm::count_if(loop.to, [](int64_t step) { return step != 0; }) <= 1;
  };
  if (piece == view.pieces.end() || starts.size() != sizes.size() ||
      !llvm::all_of(piece->loops, isAlongOne))
    return std::nullopt;
  found.operand = piece->operand;
  // What the loops along one axis add does not depend on the indices along others.
  for (const size_t axis : llvm::seq(sizes.size())) {
    Extents index(selection.starts), expected(starts), from;
    for (int64_t i = 1; i < sizes[axis]; ++i) {
      index[axis] += selection.steps[axis];
      if (!finds(*piece, index, from))
        return std::nullopt;
      if (i == 1)
        steps[axis] = from[axis] - starts[axis];
      expected[axis] += steps[axis];
      if (steps[axis] == 0 || from != expected)
        return std::nullopt;
    }
  }
  const Region box = found.elements.box();
  return intersection(box, wholeOf(view.operands[found.operand])) == box
             ? std::optional(std::move(found))
             : std::nullopt;
}

AffineMap mapOf(const Piece &piece, bool ofResult, MLIRContext *context) {
  llvm::SmallVector<AffineExpr> indices;
  for (const int64_t first : ofResult ? piece.to : piece.from)
    indices.push_back(getAffineConstantExpr(first, context));
  for (auto [number, loop] : llvm::enumerate(piece.loops))
    for (auto [index, step] : llvm::zip_equal(indices, ofResult ? loop.to : loop.from))
      if (step != 0)
        index = index + getAffineDimExpr(number, context) * step;
  return AffineMap::get(piece.loops.size(), 0, indices, context);
}

Piece pieceOf(ExtentsRef loops, const Projection &from, const Projection &to) {
  Piece piece;
  for (unsigned axis = 0; axis < from.rank(); ++axis)
    piece.from.push_back(from.offset(axis));
  for (unsigned axis = 0; axis < to.rank(); ++axis)
    piece.to.push_back(to.offset(axis));
  for (auto [loop, extent] : llvm::enumerate(loops))
    piece.loops.push_back({extent, delta(from, loop), delta(to, loop)});
  return piece;
}

Extents extentsOf(const Piece &piece) {
  Extents extents;
  for (const Piece::Loop &loop : piece.loops)
    extents.push_back(loop.extent);
  return extents;
}

ProjectionSteps stepsOf(const Pieces &view, const Piece &piece, bool ofResult) {
  const Extents &tensor = ofResult ? view.result : view.operands[piece.operand];
  ProjectionSteps steps{ofResult ? piece.to : piece.from, {}, Extents(tensor.size(), 1), tensor};
  for (const Piece::Loop &loop : piece.loops)
    steps.loops.push_back(ofResult ? loop.to : loop.from);
  return steps;
}

std::optional<Region> regionRead(const Pieces &view, const Piece &piece, const Region &needed) {
  return regionRead(extentsOf(piece), stepsOf(view, piece, false), stepsOf(view, piece, true),
                    needed);
}

std::optional<Region> partRead(const Pieces &view, const Piece &piece, const Region &needed) {
  Piece moved = piece; // to the first index of each axis along which it is read in part
  Region part = needed;
  for (const size_t axis : llvm::seq(view.result.size())) {
    int64_t low = piece.to[axis], high = low; // indices that the piece writes
    for (const Piece::Loop &loop : piece.loops) {
      const int64_t last = loop.to[axis] * (loop.extent - 1);
      low += std::min<int64_t>(last, 0);
      high += std::max<int64_t>(last, 0);
    }
    if (high < needed.start[axis] || low >= needed.end(axis))
      return std::nullopt;
    if (low >= needed.start[axis] && high < needed.end(axis)) {
      part.start[axis] = 0;
      part.extents[axis] = view.result[axis];
      continue;
    }
    moved.to[axis] = 0;
    part.start[axis] = std::max<int64_t>(needed.start[axis] - piece.to[axis], 0);
    part.extents[axis] = needed.end(axis) - piece.to[axis] - part.start[axis];
  }
  return regionRead(view, moved, part);
}

Region mostRead(const Pieces &view, const Piece &piece, const Region &needed) {
  Region read;
  const auto ranges = writing(piece, needed);
  for (auto [axis, extent] : llvm::enumerate(view.operands[piece.operand])) {
    Range index{piece.from[axis], piece.from[axis]};
    if (ranges)
      for (auto [loop, range] : llvm::zip_equal(piece.loops, *ranges))
        add(index, loop.from[axis], range);
    read.start.push_back(std::max<int64_t>(index.low, 0));
    read.extents.push_back(ranges ? std::min(index.high, extent - 1) + 1 - read.start.back() : 0);
  }
  return read;
}

Region mostRead(const IndexSpace &space, unsigned operand, const Region &needed) {
  const Projection &from = space.operands[operand], &to = space.results.front();
  Piece piece = pieceOf(space.extents(), from, to);
  // The elements of a region are loops of their own.
  const auto addRegion = [&](const Projection &side, Extents Piece::Loop::*moved) {
    for (auto [axis, extent] : llvm::enumerate(side.region)) {
      Piece::Loop loop{extent, Extents(from.rank(), 0), Extents(to.rank(), 0)};
      (loop.*moved)[axis] = 1;
      piece.loops.push_back(std::move(loop));
    }
  };
  addRegion(from, &Piece::Loop::from);
  addRegion(to, &Piece::Loop::to);
  return mostRead({{from.tensor}, to.tensor, {}, std::nullopt}, piece, needed);
}

} // namespace sluice::space
