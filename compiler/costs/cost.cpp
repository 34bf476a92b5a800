#include "compiler/costs/cost.h"

#include <algorithm>
#include <cstdlib>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace sluice::space {
namespace {

int64_t rows(const Projection &projection, const Region &block, unsigned dim, int64_t lanes) {
  return projection.rank() == 0 ? 1 : rowsOf(projection, block, dim, lanes);
}

/// An operand row by row, into the rows of the result.
struct Streamed {
  const Projection *projection;
  unsigned dim;
};

/// The operand whose rows are streamed: an activation along a reduced loop before any
/// other. A constant takes its lanes from the last reduced loop.
std::optional<Streamed> streamedOf(const IndexSpace &space, const RowLayouts &layouts) {
  const auto reducedAlong = [&](const Projection &operand, unsigned axis) {
    for (auto [loop, of] : llvm::enumerate(space.loops))
      if (of.kind == LoopKind::Reduced && operand.step(axis, loop) != 0)
        return true;
    return false;
  };
  std::optional<Streamed> streamed;
  for (auto [operand, dim] : llvm::zip_equal(space.operands, layouts.operands))
    if (dim && operand.rank() > 0 && reducedAlong(operand, *dim))
      return Streamed{&operand, *dim};
  for (auto [operand, dim] : llvm::zip_equal(space.operands, layouts.operands))
    if (!dim && space.work == Work::Product)
      for (unsigned axis = 0; axis < operand.rank(); ++axis)
        if (reducedAlong(operand, axis))
          streamed = Streamed{&operand, axis};
  if (streamed)
    return streamed;
  for (auto [operand, dim] : llvm::zip_equal(space.operands, layouts.operands))
    if (dim)
      return Streamed{&operand, *dim};
  return std::nullopt;
}

/// Steps along one axis that are looked at one by one.
constexpr int64_t kMostSteps = 1 << 18;

/// The block that one step of the loops `along` makes of a block.
class StepBlocks {
public:
  StepBlocks(const IndexSpace &space, const Region &block, const RowLayouts &layouts,
             llvm::ArrayRef<unsigned> along)
      : block(block), step(block), along(along) {
    for (const unsigned loop : along) {
      sizes.push_back(stepOf(space, loop, layouts));
      steps.push_back(llvm::divideCeilSigned(block.extents[loop], sizes.back()));
      count *= steps.back();
    }
  }

  [[nodiscard]] int64_t size() const { return count; }

  const Region &at(int64_t number) {
    for (auto [loop, size, extent] : llvm::zip_equal(along, sizes, steps)) {
      const int64_t first = number % extent * size;
      number /= extent;
      step.start[loop] = block.start[loop] + first;
      step.extents[loop] = std::min(size, block.extents[loop] - first);
    }
    return step;
  }

private:
  const Region &block;
  Region step;
  llvm::ArrayRef<unsigned> along;
  llvm::SmallVector<int64_t, 4> sizes, steps;
  int64_t count = 1;
};

/// Pairs of a row that is streamed and a step, of all loops that are not reduced, that reads the
/// row. Every loop moves the operand along one axis at most, so they are a product over the axes.
int64_t beatsOf(const IndexSpace &space, const Region &block, const RowLayouts &layouts) {
  const auto streamed = streamedOf(space, layouts);
  const auto loopsOf = [&](std::optional<unsigned> axis) {
    llvm::SmallVector<unsigned> loops;
    for (auto [loop, of] : llvm::enumerate(space.loops))
      if (of.kind != LoopKind::Reduced && (axis ? streamed->projection->step(*axis, loop) != 0
                                                : !streamed || !streamed->projection->moves(loop)))
        loops.push_back(loop);
    return loops;
  };
  const auto still = loopsOf(std::nullopt);
  int64_t count = StepBlocks(space, block, layouts, still).size();
  for (unsigned axis = 0; streamed && axis < streamed->projection->rank(); ++axis) {
    const auto along = loopsOf(axis);
    StepBlocks steps(space, block, layouts, along);
    const auto rowsOf = [&](int64_t step) {
      return rowsAlong(*streamed->projection, axis, steps.at(step),
                       axis == streamed->dim ? layouts.lanes : 1);
    };
    int64_t sum = 0;
    if (steps.size() > kMostSteps)
      sum = steps.size() * rowsOf((steps.size() - 1) / 2);
    else
      for (int64_t step = 0; step < steps.size(); ++step)
        sum += rowsOf(step);
    count *= sum;
  }
  return count;
}

} // namespace

int64_t stepOf(const IndexSpace &space, unsigned loop, const RowLayouts &layouts) {
  const auto along = [&](const auto &projections, const auto &dims) {
    for (auto [projection, dim] : llvm::zip_equal(projections, dims))
      if (dim && projection.rank() > 0 && std::abs(projection.step(*dim, loop)) == 1)
        return true;
    return false;
  };
  return along(space.operands, layouts.operands) || along(space.results, layouts.results)
             ? layouts.lanes
             : 1;
}

Region rowBlock(const IndexSpace &space, const RowLayouts &layouts) {
  Region block = space.whole();
  for (auto [loop, of] : llvm::enumerate(space.loops)) {
    if (of.kind == LoopKind::Reduced)
      continue;
    const int64_t step = stepOf(space, loop, layouts);
    block.start[loop] = (of.extent - 1) / step / 2 * step;
    block.extents[loop] = std::min(step, of.extent - block.start[loop]);
  }
  return block;
}

Cost costOf(const IndexSpace &space, const Region &block, const RowLayouts &layouts) {
  Cost cost;
  for (auto [operand, dim] : llvm::zip_equal(space.operands, layouts.operands))
    if (dim)
      cost.rowsRead += rows(operand, block, *dim, layouts.lanes);
  for (auto [result, dim] : llvm::zip_equal(space.results, layouts.results))
    if (dim)
      cost.rowsWritten += rows(result, block, *dim, layouts.lanes);
  cost.workingRows = cost.rowsRead + cost.rowsWritten;
  if (space.work == Work::Address)
    return cost;
  cost.beats = beatsOf(space, block, layouts);
  for (auto [operand, dim] : llvm::zip_equal(space.operands, layouts.operands)) {
    if (dim || space.work != Work::Product)
      continue;
    // The same blocks at every step of a loop that the constant stands still along.
    Region once = block;
    for (unsigned loop = 0; loop < space.loops.size(); ++loop)
      if (!operand.moves(loop)) {
        once.start[loop] += (once.extents[loop] - 1) / 2;
        once.extents[loop] = 1;
      }
    cost.weightBlocks += beatsOf(space, once, layouts);
  }
  return cost;
}

std::optional<Region> stepBlock(const IndexSpace &space, unsigned loop, const RowLayouts &layouts) {
  const int64_t extent = space.loops[loop].extent, step = stepOf(space, loop, layouts);
  if (extent <= step)
    return std::nullopt;
  Region block = rowBlock(space, layouts);
  block.start[loop] = ((extent - 1) / step - 1) / 2 * step;
  block.extents[loop] = step;
  return block;
}

std::optional<Cost> marginalCost(const IndexSpace &space, unsigned loop,
                                 const RowLayouts &layouts) {
  auto block = stepBlock(space, loop, layouts);
  if (!block)
    return std::nullopt;
  const Cost one = costOf(space, *block, layouts);
  block->extents[loop] =
      std::min(2 * block->extents[loop], space.loops[loop].extent - block->start[loop]);
  const Cost two = costOf(space, *block, layouts);
  return Cost{two.rowsRead - one.rowsRead, two.rowsWritten - one.rowsWritten, two.beats - one.beats,
              two.weightBlocks - one.weightBlocks, two.workingRows - one.workingRows};
}

} // namespace sluice::space
