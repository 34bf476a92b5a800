#include "compiler/costs/zero_blocks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/index_space/points.h"
#include "runtime/addressing/addressing.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

namespace sluice::space {
namespace {

/// Most points of a block that are looked at one by one, and most weights.
constexpr int64_t kMostPoints = int64_t{1} << 21, kMostWeights = int64_t{1} << 24;

/// The row-major position of an element; nothing outside the tensor.
std::optional<int64_t> positionOf(ExtentsRef element, ExtentsRef tensor) {
  return isInside(element, tensor) ? std::optional(addressing::rowMajorPosition(element, tensor))
                                   : std::nullopt;
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
      layouts.operands[0].has_value() == layouts.operands[1].has_value() || weights.empty())
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
    const auto weight = positionOf(ofConstant.at(point), constant.tensor);
    if (weight && weights[*weight] != 0)
      if (const Extents element = ofOperand.at(point); positionOf(element, operand.tensor))
        visit(point, element);
    size_t loop = point.size();
    while (loop > 0 && ++point[loop - 1] == block.end(loop - 1))
      point[loop - 1] = block.start[loop - 1], --loop;
    if (loop == 0)
      return;
  }
}

namespace {

/// Consecutive iterations of each loop that belong together: as many as a row has lanes where they
/// read the elements of one row, or the same element, in as many lanes of the result.
Extents groupsOf(const IndexSpace &space, const RowLayouts &layouts, unsigned activation,
                 const Region &block) {
  const Projection &operand = space.operands[activation];
  const unsigned dim = *layouts.operands[activation];
  const auto movers = llvm::count_if(llvm::seq<unsigned>(0, space.loops.size()),
                                     [&](unsigned loop) { return operand.step(dim, loop) != 0; });
  Extents groups;
  for (unsigned loop = 0; loop < space.loops.size(); ++loop) {
    const int64_t step = operand.step(dim, loop);
    const int64_t first = operand.offset(dim) + block.start[loop];
    const bool isRow = step == 1 && movers == 1 && first % layouts.lanes == 0;
    groups.push_back(isRow || !operand.moves(loop) ? stepOf(space, loop, layouts) : 1);
  }
  return groups;
}

/// The number of groups along each loop of a block.
Extents countsOf(const Region &block, ExtentsRef groups) {
  Extents counts;
  for (auto [extent, group] : llvm::zip_equal(block.extents, groups))
    counts.push_back(llvm::divideCeilSigned(extent, group));
  return counts;
}

/// A block product: the row of the operand, the step of the loops that are not reduced, and a sum
/// of hashes that tells its weights from those of other products.
struct BlockProduct {
  int64_t row, step;
  size_t weights;
};

/// Joins what belongs to one product.
void join(std::vector<BlockProduct> &products) {
  const auto key = [](const BlockProduct &one) { return std::pair(one.row, one.step); };
  llvm::sort(products, [&](const auto &a, const auto &b) { return key(a) < key(b); });
  size_t count = 0;
  for (const BlockProduct &one : products)
    if (count != 0 && key(products[count - 1]) == key(one))
      products[count - 1].weights += one.weights;
    else
      products[count++] = one;
  products.resize(count);
}

} // namespace

/// The groups of weights of a block that are not all zero, as the first point of each.
std::vector<Extents> ConstantProduct::groupsWithWeights(const Region &block,
                                                        ExtentsRef groups) const {
  const Projection &constant = space->operands[1 - activation];
  const Steps ofConstant(constant);
  Region moved = block; // of the loops that move the constant
  for (unsigned loop = 0; loop < space->loops.size(); ++loop)
    if (!constant.moves(loop))
      moved.extents[loop] = 1;
  const Extents counts = countsOf(moved, groups);
  std::vector<bool> isSet(static_cast<size_t>(wholeOf(counts).size()));
  std::vector<Extents> points;
  forEachIndex(moved, [&](ExtentsRef point) {
    const auto weight = positionOf(ofConstant.at(point), constant.tensor);
    if (!weight || weights[*weight] == 0)
      return;
    Extents first(point);
    size_t number = 0;
    for (unsigned loop = 0; loop < point.size(); ++loop) {
      const int64_t group = (point[loop] - block.start[loop]) / groups[loop];
      number = number * counts[loop] + group;
      first[loop] = block.start[loop] + group * groups[loop];
    }
    if (!isSet[number])
      points.push_back(std::move(first));
    isSet[number] = true;
  });
  return points;
}

std::optional<Cost> ConstantProduct::exactCost(const Region &block) const {
  const Projection &constant = space->operands[1 - activation];
  const Projection &operand = space->operands[activation];
  const unsigned dim = *layouts->operands[activation];
  const Extents groups = groupsOf(*space, *layouts, activation, block);
  int64_t ofWeights = 1;
  Region others = wholeOf(countsOf(block, groups)); // groups of the loops that the constant ignores
  for (unsigned loop = 0; loop < space->loops.size(); ++loop)
    if (constant.moves(loop)) {
      ofWeights *= block.extents[loop];
      others.extents[loop] = 1;
    }
  if (ofWeights > kMostWeights)
    return std::nullopt;
  const std::vector<Extents> weighted = groupsWithWeights(block, groups);
  if (std::cmp_greater(weighted.size(), kMostPoints / others.size()))
    return std::nullopt;

  const Projection &result = space->results.front();
  const Steps ofOperand(operand), ofResult(result);
  std::vector<BlockProduct> products;
  for (const Extents &first : weighted) {
    const llvm::hash_code weight = llvm::hash_combine_range(first.begin(), first.end());
    forEachIndex(others, [&](ExtentsRef other) {
      Extents point(first), lengths; // of groups, which have the same weight in each iteration
      int64_t step = 0;
      for (unsigned loop = 0; loop < point.size(); ++loop) {
        point[loop] += other[loop] * groups[loop];
        if (!constant.moves(loop))
          lengths.push_back(std::min(groups[loop], block.end(loop) - point[loop]));
        if (space->loops[loop].kind != LoopKind::Reduced) {
          const int64_t size = stepOf(*space, loop, *layouts);
          step = step * llvm::divideCeilSigned(block.extents[loop], size) +
                 (point[loop] - block.start[loop]) / size;
        }
      }
      const Extents element = ofOperand.at(point);
      if (!positionOf(element, operand.tensor))
        return;
      int64_t row = 0;
      for (auto [axis, index] : llvm::enumerate(element))
        row = row * operand.tensor[axis] + (axis == dim ? index / layouts->lanes : index);
      const int64_t lane = element[dim] % layouts->lanes;
      const int64_t to =
          result.rank() == 0 ? 0 : ofResult.at(point)[*layouts->results[0]] % layouts->lanes;
      products.push_back(
          {row, step,
           llvm::hash_combine(weight, lane, to,
                              llvm::hash_combine_range(lengths.begin(), lengths.end()))});
    });
  }
  join(products);
  std::vector<int64_t> rows;
  std::vector<size_t> blocks;
  for (const BlockProduct &one : products) {
    rows.push_back(one.row);
    blocks.push_back(one.weights);
  }
  const auto distinct = [](auto &values) {
    llvm::sort(values);
    return std::unique(values.begin(), values.end()) - values.begin();
  };
  Cost cost = space::costOf(*space, block, *layouts);
  cost.workingRows -= cost.rowsRead;
  cost.rowsRead = distinct(rows);
  cost.workingRows += cost.rowsRead;
  cost.beats = static_cast<int64_t>(products.size());
  cost.weightBlocks = distinct(blocks);
  return cost;
}

Cost ConstantProduct::costOf(const Region &block) const {
  const auto exact = exactCost(block);
  return exact ? *exact : space::costOf(*space, block, *layouts);
}

std::optional<Cost> ConstantProduct::marginalCost(unsigned loop) const {
  auto block = stepBlock(*space, loop, *layouts);
  if (!block)
    return std::nullopt;
  Region two = *block;
  two.extents[loop] = std::min(2 * two.extents[loop], space->loops[loop].extent - two.start[loop]);
  const auto one = exactCost(*block), both = exactCost(two);
  if (!one || !both)
    return space::marginalCost(*space, loop, *layouts);
  return Cost{both->rowsRead - one->rowsRead, both->rowsWritten - one->rowsWritten,
              both->beats - one->beats, both->weightBlocks - one->weightBlocks,
              both->workingRows - one->workingRows};
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
    here.insert(*positionOf(element, operand.tensor));
  });
  forEach(next, [&](ExtentsRef, ExtentsRef element) {
    if (const int64_t flat = *positionOf(element, operand.tensor); here.contains(flat))
      both.insert(flat);
  });
  return {static_cast<int64_t>(both.size()), static_cast<int64_t>(here.size())};
}

} // namespace sluice::space
