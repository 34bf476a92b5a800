#include "compiler/index_space/zero_blocks.h"

#include <set>
#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace sluice::space {
namespace {

/// Most points of a block that are looked at one by one.
constexpr int64_t kMostPoints = int64_t{1} << 20;

/// The row-major index of an element; nothing outside of the tensor.
std::optional<int64_t> flatIndex(ExtentsRef element, ExtentsRef tensor) {
  int64_t flat = 0;
  for (auto [index, extent] : llvm::zip_equal(element, tensor)) {
    if (index < 0 || index >= extent)
      return std::nullopt;
    flat = flat * extent + index;
  }
  return flat;
}

/// A projection as plain numbers: the element at a point.
class Steps {
public:
  explicit Steps(const Projection &projection) {
    for (unsigned axis = 0; axis < projection.rank(); ++axis) {
      offsets.push_back(projection.offset(axis));
      for (unsigned loop = 0; loop < projection.loops(); ++loop)
        steps.push_back(projection.step(axis, loop));
    }
  }

  [[nodiscard]] Extents at(ExtentsRef point) const {
    Extents element(offsets);
    for (size_t axis = 0; axis < element.size(); ++axis)
      for (size_t loop = 0; loop < point.size(); ++loop)
        element[axis] += steps[axis * point.size() + loop] * point[loop];
    return element;
  }

private:
  Extents offsets;
  llvm::SmallVector<int64_t> steps;
};

} // namespace

std::optional<ConstantProduct> ConstantProduct::of(const IndexSpace &space,
                                                   const RowLayouts &layouts,
                                                   llvm::ArrayRef<double> weights) {
  if (space.work != Work::Product || space.operands.size() != 2 ||
      layouts.operands[0].has_value() == layouts.operands[1].has_value() ||
      !llvm::is_contained(weights, 0.0))
    return std::nullopt;
  const unsigned activation = layouts.operands[0] ? 0 : 1;
  const auto isSingle = [](int64_t extent) { return extent == 1; };
  if (space.operands[activation].rank() == 0 ||
      !llvm::all_of(space.operands, [&](const Projection &operand) {
        return llvm::all_of(operand.region, isSingle);
      }))
    return std::nullopt;
  return ConstantProduct(space, layouts, weights, activation);
}

void ConstantProduct::forEach(
    const Region &block,
    llvm::function_ref<void(ExtentsRef point, ExtentsRef element)> visit) const {
  const Projection &constant = space->operands[1 - activation];
  const Projection &operand = space->operands[activation];
  const Steps ofConstant(constant), ofOperand(operand);
  Extents point(block.start);
  while (true) {
    const auto weight = flatIndex(ofConstant.at(point), constant.tensor);
    if (weight && weights[*weight] != 0)
      if (const Extents element = ofOperand.at(point); flatIndex(element, operand.tensor))
        visit(point, element);
    size_t loop = point.size();
    while (loop > 0 && ++point[loop - 1] == block.end(loop - 1))
      point[loop - 1] = block.start[loop - 1], --loop;
    if (loop == 0)
      return;
  }
}

Cost ConstantProduct::exactCost(const Region &block) const {
  const Projection &constant = space->operands[1 - activation];
  const unsigned dim = *layouts->operands[activation];
  llvm::SmallVector<int64_t> steps;
  for (unsigned loop = 0; loop < space->loops.size(); ++loop)
    steps.push_back(stepOf(*space, loop, *layouts));
  std::set<Extents> rows;
  std::set<std::pair<Extents, Extents>> products; // of a step of the parallel loops, and a row
  forEach(block, [&](ExtentsRef point, ExtentsRef element) {
    Extents step, row(element);
    for (auto [loop, of] : llvm::enumerate(space->loops))
      if (of.kind != LoopKind::Reduced)
        step.push_back((point[loop] - block.start[loop]) / steps[loop]);
    row[dim] /= layouts->lanes;
    rows.insert(row);
    products.emplace(std::move(step), std::move(row));
  });
  Cost cost = space::costOf(*space, block, *layouts);
  cost.workingRows -= cost.rowsRead - static_cast<int64_t>(rows.size());
  cost.rowsRead = static_cast<int64_t>(rows.size());
  cost.beats = static_cast<int64_t>(products.size());
  // The same blocks at every step of a loop that the constant stands still along.
  Region once = block;
  bool repeats = false;
  for (unsigned loop = 0; loop < space->loops.size(); ++loop)
    if (!constant.moves(loop) && once.extents[loop] > 1) {
      once.start[loop] += (once.extents[loop] - 1) / 2;
      once.extents[loop] = 1;
      repeats = true;
    }
  cost.weightBlocks = repeats ? exactCost(once).weightBlocks : cost.beats;
  return cost;
}

Cost ConstantProduct::costOf(const Region &block) const {
  return block.size() <= kMostPoints ? exactCost(block) : space::costOf(*space, block, *layouts);
}

std::optional<Cost> ConstantProduct::marginalCost(unsigned loop) const {
  auto block = stepBlock(*space, loop, *layouts);
  if (!block)
    return std::nullopt;
  Region two = *block;
  two.extents[loop] = std::min(2 * two.extents[loop], space->loops[loop].extent - two.start[loop]);
  if (two.size() > kMostPoints)
    return space::marginalCost(*space, loop, *layouts);
  const Cost one = exactCost(*block), both = exactCost(two);
  return Cost{both.rowsRead - one.rowsRead, both.rowsWritten - one.rowsWritten,
              both.beats - one.beats, both.weightBlocks - one.weightBlocks,
              both.workingRows - one.workingRows};
}

ConstantProduct::Shared ConstantProduct::shared(const Region &block, unsigned loop) const {
  const Projection &operand = space->operands[activation];
  Region next = block;
  next.start[loop] += block.extents[loop];
  next.extents[loop] = std::min(next.extents[loop], space->loops[loop].extent - next.start[loop]);
  if (block.size() > kMostPoints)
    return {sharedElements(operand, block, loop), elementsOf(operand, block)};
  std::set<int64_t> here, both;
  forEach(block, [&](ExtentsRef, ExtentsRef element) {
    here.insert(*flatIndex(element, operand.tensor));
  });
  forEach(next, [&](ExtentsRef, ExtentsRef element) {
    if (const int64_t flat = *flatIndex(element, operand.tensor); here.contains(flat))
      both.insert(flat);
  });
  return {static_cast<int64_t>(both.size()), static_cast<int64_t>(here.size())};
}

} // namespace sluice::space
