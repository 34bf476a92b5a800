// The index space of a view: the loops that its pieces share.
#include "compiler/index_space/pieces.h"

#include <cstdlib>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace sluice::space {
namespace {

/// Loops that all pieces have, and the box of all other elements of each tensor.
class SharedLoops {
public:
  explicit SharedLoops(const Pieces &view) : view(view), shared(view.pieces[0].loops.size()) {
    for (const size_t loop : llvm::seq(shared.size()))
      shared[loop] = llvm::all_of(view.pieces, [&](const Piece &piece) {
        return loop < piece.loops.size() && piece.loops[loop] == view.pieces[0].loops[loop];
      });
    while (view.pieces.size() > 1 && dropGap())
      ;
  }

  [[nodiscard]] IndexSpace space(MLIRContext *context) const {
    IndexSpace space;
    space.work = Work::Address;
    for (const size_t loop : llvm::seq(shared.size()))
      if (shared[loop])
        space.loops.push_back({view.pieces[0].loops[loop].extent});
    const llvm::SmallVector<Region, 1> boxes = operandBoxes();
    for (auto [operand, box] : llvm::enumerate(boxes))
      space.operands.push_back(
          projection(box, false, view.operands[operand], view.outside, context));
    space.results = {projection(resultBox(), true, view.result, std::nullopt, context)};
    return space;
  }

private:
  const Pieces &view;
  llvm::SmallVector<bool> shared;

  static const Extents &steps(const Piece::Loop &loop, bool ofResult) {
    return ofResult ? loop.to : loop.from;
  }

  /// Adds the elements of a piece at the first point of the shared loops to a box.
  void extend(Region &box, const Piece &piece, bool ofResult) const {
    Extents low = ofResult ? piece.to : piece.from, high = low;
    for (auto [index, loop] : llvm::enumerate(piece.loops))
      if (index >= shared.size() || !shared[index])
        for (auto [axis, step] : llvm::enumerate(steps(loop, ofResult)))
          (step < 0 ? low : high)[axis] += step * (loop.extent - 1);
    for (const size_t axis : llvm::seq(box.start.size())) {
      low[axis] = std::min(low[axis], box.start[axis]);
      high[axis] = std::max(high[axis], box.end(axis) - 1);
    }
    box = {low, high};
    for (auto [extent, first] : llvm::zip_equal(box.extents, low))
      extent += 1 - first;
  }

  [[nodiscard]] Region resultBox() const {
    Region box;
    for (const Piece &piece : view.pieces)
      extend(box, piece, true);
    return box;
  }

  [[nodiscard]] llvm::SmallVector<Region, 1> operandBoxes() const {
    llvm::SmallVector<Region, 1> boxes(view.operands.size());
    for (const Piece &piece : view.pieces)
      extend(boxes[piece.operand], piece, false);
    return boxes;
  }

  /// Shared loops must cover the tensors without gaps or overlaps; else the regions of a point do
  /// not have the same elements. Makes a loop that does not one of the others; false if there is
  /// none.
  bool dropGap() {
    return dropGap(resultBox(), true) ||
           llvm::any_of(operandBoxes(), [&](const Region &box) { return dropGap(box, false); });
  }

  /// From the shortest step to the longest.
  bool dropGap(const Region &box, bool ofResult) {
    for (const size_t axis : llvm::seq(box.start.size())) {
      llvm::SmallVector<std::pair<int64_t, size_t>> along;
      for (auto [index, loop] : llvm::enumerate(view.pieces[0].loops))
        if (shared[index] && steps(loop, ofResult)[axis] != 0)
          along.emplace_back(std::abs(steps(loop, ofResult)[axis]), index);
      llvm::sort(along);
      int64_t covered = box.extents[axis];
      for (const auto &[step, index] : along) {
        if (step != covered) {
          shared[index] = false;
          return true;
        }
        covered *= view.pieces[0].loops[index].extent;
      }
    }
    return false;
  }

  [[nodiscard]] Projection projection(const Region &region, bool ofResult, ExtentsRef tensor,
                                      std::optional<double> outside, MLIRContext *context) const {
    llvm::SmallVector<AffineExpr> places(region.start.size(), getAffineConstantExpr(0, context));
    unsigned count = 0;
    for (auto [index, loop] : llvm::enumerate(view.pieces[0].loops)) {
      if (!shared[index])
        continue;
      const AffineExpr dim = getAffineDimExpr(count++, context);
      for (auto [place, step] : llvm::zip_equal(places, steps(loop, ofResult)))
        if (step != 0)
          place = place + dim * step;
    }
    for (auto [place, first] : llvm::zip_equal(places, region.start))
      if (first != 0)
        place = place + first;
    return {AffineMap::get(count, 0, places, context), region.extents, Extents(tensor), outside};
  }
};

} // namespace

IndexSpace spaceOf(const Pieces &view, MLIRContext *context) {
  return SharedLoops(view).space(context);
}

} // namespace sluice::space
