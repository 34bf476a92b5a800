#include "compiler/conversion/rows/read_places.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/conversion/rows/certain_reads.h"
#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/dialect/sluice/tensors.h"
#include "runtime/addressing/addressing.h"

using namespace mlir;

namespace sluice::rows {
namespace {

/// The operand of a map that its result follows.
Value operandFollowed(ir::MapOp map) {
  const Value result = map.getBody().front().getTerminator()->getOperand(0);
  if (const auto argument = llvm::dyn_cast<BlockArgument>(result))
    return map.getInputs()[argument.getArgNumber()];
  Value found;
  for (const Value input : map.getInputs())
    if (ir::dataDim(input) &&
        (!found || llvm::isa_and_nonnull<ir::ViewInterface>(found.getDefiningOp())))
      found = input;
  return found;
}

/// The first element that a reduction reads for one of its result; nothing if it is not known.
std::optional<ElementAt> firstOf(const ElementAt &at, ir::IndexSpaceInterface reduction) {
  const space::IndexSpace space = reduction.indexSpace();
  if (reduction->getNumOperands() != 1)
    return std::nullopt;
  const addressing::Indices index = addressing::rowMajorIndex(at.element, ir::shapeOf(at.value));
  space::Extents point(space.loops.size(), 0), from;
  const space::Projection &result = space.results.front(), &operand = space.operands.front();
  for (unsigned axis = 0; axis < result.rank(); ++axis)
    if (const auto loop = result.loopAlong(axis))
      point[*loop] = index[axis];
    else if (index[axis] != 0)
      return std::nullopt;
  for (unsigned axis = 0; axis < operand.rank(); ++axis) {
    const auto loop = operand.loopAlong(axis);
    if (!loop)
      return std::nullopt;
    from.push_back(point[*loop]);
  }
  const Value value = reduction->getOperand(0);
  return ElementAt{value, addressing::rowMajorPosition(from, ir::shapeOf(value))};
}

/// Whether no line of weights, which some element of the result has, is all zero.
bool haveNoZeroLine(llvm::ArrayRef<float> values, const Loops &loops, unsigned side) {
  std::vector<size_t> summed, others;
  for (size_t loop = 0; loop < loops.extents.size(); ++loop)
    if ((side == 1 ? loops.rhs : loops.lhs)[loop] != 0)
      (loops.result[loop] == 0 ? summed : others).push_back(loop);
  const std::vector<Trip> sums = loops.trips(summed, side == 1);
  return !values.empty() &&
         std::ranges::all_of(loops.trips(others, side == 1), [&](const Trip &other) {
           return std::ranges::any_of(sums, [&](const Trip &sum) {
             const float weight = values.size() == 1 ? values[0] : values[other.w + sum.w];
             return std::fabs(weight) >= kLeastWeight;
           });
         });
}

} // namespace

WaysToRead ElementFollower::waysToRead(Value value, const std::vector<int64_t> &read) {
  WaysToRead ways{std::vector<ReadPlaces>(1)};
  std::vector<ReadPlaces> &all = ways.places;
  for (const int64_t element : read)
    all[0].push_back(ElementAt{value, element});
  double least = 1;
  while (Operation *op = value.getDefiningOp()) {
    if (auto map = llvm::dyn_cast<ir::MapOp>(op)) {
      const MapScale scale = scaleOf(map, constants);
      if (!scale.mayBeAffine)
        break;
      least *= scale.hasOneSign ? scale.least : 0;
      ways.areScaledAlike &= scale.isUniform;
      value = followed(map);
    } else if (llvm::isa<ir::ViewInterface>(op) && op->getNumOperands() == 1) {
      value = op->getOperand(0);
    } else {
      break;
    }
    ReadPlaces next = all.back();
    for (std::optional<ElementAt> &one : next)
      if (one)
        one = before(*one);
    all.push_back(std::move(next));
  }
  const bool known = least >= kLeastWeight && areDistinct(all.back(), ways.areOfStates);
  return known ? std::move(ways) : WaysToRead();
}

/// Returns the element that an element of a view or of a map comes from; nothing if it is a
/// constant.
std::optional<ElementAt> ElementFollower::before(const ElementAt &at) {
  Operation *op = at.value.getDefiningOp();
  if (llvm::isa<ir::MapOp>(op)) {
    const Value value = followed(op);
    return value && ir::dataDim(value) ? std::optional(ElementAt{value, at.element}) : std::nullopt;
  }
  auto known = views.find(op);
  if (known == views.end())
    known = views.try_emplace(op, llvm::cast<ir::ViewInterface>(op).pieces()).first;
  const space::Source source =
      space::sourceOf(known->second, addressing::rowMajorIndex(at.element, ir::shapeOf(at.value)));
  if (!source.operand || !ir::dataDim(op->getOperand(*source.operand)))
    return std::nullopt;
  return ElementAt{op->getOperand(*source.operand), source.element};
}

/// Returns the operand of a map that its result follows.
Value ElementFollower::followed(Operation *map) {
  const auto [known, added] = maps.try_emplace(map);
  if (added)
    known->second = operandFollowed(llvm::cast<ir::MapOp>(map));
  return known->second;
}

bool ElementFollower::computesAll(Operation *product) {
  return llvm::all_of(llvm::ArrayRef{0U, 1U}, [&](unsigned side) {
    return ir::dataDim(product->getOperand(side)) || computesAll(product, side);
  });
}

/// Whether it does for the weights on one side. The steps of a recurrence share them.
bool ElementFollower::computesAll(Operation *product, unsigned side) {
  const llvm::ArrayRef<float> values = constants.of(product->getOperand(side));
  const Loops loops = loopsOf(product);
  const std::vector<int64_t> &strides = side == 1 ? loops.rhs : loops.lhs;
  std::vector<Weights> &known = weights[values.data()];
  for (const Weights &one : known)
    if (one.extents == loops.extents && one.strides == strides && one.result == loops.result)
      return one.areAllComputed;
  const bool all = haveNoZeroLine(values, loops, side);
  known.push_back({loops.extents, strides, loops.result, all});
  return all;
}

/// Whether the elements are of different rows or lanes. Notes which ones are of states.
bool ElementFollower::areDistinct(const ReadPlaces &places, std::vector<bool> &areOfStates) {
  llvm::DenseSet<std::pair<Value, int64_t>> seen;
  llvm::DenseMap<Operation *, bool> products; ///< whether all of their rows are computed
  for (std::optional<ElementAt> at : places) {
    while (at && at->value.getDefiningOp()) {
      Operation *op = at->value.getDefiningOp();
      auto spaced = llvm::dyn_cast<ir::IndexSpaceInterface>(op);
      if (llvm::isa<ir::ViewInterface>(op) || llvm::isa<ir::MapOp>(op)) {
        at = before(*at);
      } else if (llvm::isa<ir::StateOp>(op)) {
        break;
      } else if (isProduct(op)) {
        const auto [known, added] = products.try_emplace(op);
        if (added)
          known->second = computesAll(op);
        if (!known->second)
          return false;
        break;
      } else {
        at = spaced ? firstOf(*at, spaced) : std::nullopt;
        if (!at)
          return false;
      }
    }
    if (at && !seen.insert({at->value, at->element}).second)
      return false;
    areOfStates.push_back(at && at->value.getDefiningOp<ir::StateOp>());
  }
  return true;
}

} // namespace sluice::rows
