#include "compiler/conversion/rows/certain_reads.h"

#include <algorithm>
#include <cmath>

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::rows {

CertainReads::CertainReads(func::FuncOp function, ConstantValues &constants)
    : constants(constants) {
  Block &block = function.getBody().front();
  for (const Value output : block.getTerminator()->getOperands())
    read(regions, output, space::wholeOf(ir::shapeOf(output)));
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (op.getNumResults() == 1 && ir::dataDim(op.getResult(0)))
      add(op);
}

const space::Region *CertainReads::of(Value value) const {
  const auto found = regions.find(value);
  return found == regions.end() ? nullptr : &found->second;
}

const space::Region *CertainReads::linesOf(Value value) const {
  const auto found = lines.find(value);
  return found == lines.end() || of(value) ? nullptr : &found->second;
}

double CertainReads::leastBehind(Value value) const {
  const auto found = behind.find(value);
  return found == behind.end() ? 1 : found->second;
}

void CertainReads::add(Operation &op) {
  const Value result = op.getResult(0);
  auto map = llvm::dyn_cast<ir::MapOp>(op);
  const MapScale scale = map ? scaleOf(map, constants) : MapScale();
  if (map)
    for (const Value input : map.getInputs()) {
      double &least = behind.try_emplace(input, 1).first->second;
      least = std::min(least, scale.least * leastBehind(result));
    }
  const space::Region *region = of(result);
  if (!region || scale.least < kLeastWeight) {
    const space::Region *some = region ? region : linesOf(result);
    if (some && (region ? scale.leastOfLines : scale.least) >= kLeastWeight)
      addLines(op, space::Region(*some));
    return;
  }
  const space::Region needed = *region;
  if (auto view = llvm::dyn_cast<ir::ViewInterface>(op)) {
    const space::Pieces pieces = view.pieces();
    for (const space::Piece &piece : pieces.pieces)
      read(regions, op.getOperand(piece.operand), space::partRead(pieces, piece, needed));
    return;
  }
  for (const auto &[index, operand] : llvm::enumerate(op.getOperands()))
    read(regions, operand, readBy(op, index));
}

/// Whether a box contains whole lines along the data dimension of a value.
static bool hasWholeLines(Value value, const space::Region &region) {
  const auto shape = ir::shapeOf(value);
  const auto dim = static_cast<size_t>(*ir::dataDim(value));
  return !shape.empty() && region.start[dim] == 0 && region.extents[dim] == shape[dim];
}

/// Whether the loops along one axis of a result are those along one axis of an operand, and move
/// nothing else.
static bool moveAlike(const space::ProjectionSteps &operand, int64_t axisOfOperand,
                      const space::ProjectionSteps &result, int64_t axisOfResult) {
  const auto moves = [](const space::ProjectionSteps &side, int64_t along, size_t loop,
                        bool otherAxes) {
    for (unsigned axis = 0; axis < side.rank(); ++axis)
      if ((axis == along) != otherAxes && side.loops[loop][axis] != 0)
        return true;
    return false;
  };
  for (size_t loop = 0; loop < result.loops.size(); ++loop) {
    const bool moved = moves(result, axisOfResult, loop, false);
    if (moved != moves(operand, axisOfOperand, loop, false) ||
        (moved &&
         (moves(result, axisOfResult, loop, true) || moves(operand, axisOfOperand, loop, true))))
      return false;
  }
  return operand.rank() != 0 && operand.region[axisOfOperand] == 1 &&
         result.region[axisOfResult] == 1;
}

/// Adds what one element of each line of `needed` reads, whichever element it is.
void CertainReads::addLines(Operation &op, const space::Region &needed) {
  const Value result = op.getResult(0);
  if (!hasWholeLines(result, needed))
    return;
  const auto add = [&](Value operand, space::ExtentsRef loops, const space::ProjectionSteps &from,
                       const space::ProjectionSteps &to) {
    const auto dim = ir::dataDim(operand);
    if (!dim || !moveAlike(from, *dim, to, *ir::dataDim(result)))
      return;
    const auto region = space::regionRead(loops, from, to, needed);
    if (region && hasWholeLines(operand, *region))
      read(lines, operand, region);
  };
  if (auto view = llvm::dyn_cast<ir::ViewInterface>(op)) {
    const space::Pieces pieces = view.pieces();
    if (pieces.pieces.size() != 1 || pieces.outside)
      return;
    const space::Piece &piece = pieces.pieces.front();
    add(op.getOperand(piece.operand), extentsOf(piece), stepsOf(pieces, piece, false),
        stepsOf(pieces, piece, true));
  } else if (llvm::isa<ir::MapOp, ir::ReduceOp>(op)) {
    const space::IndexSpace space = llvm::cast<ir::IndexSpaceInterface>(op).indexSpace();
    const space::ProjectionSteps to = stepsOf(space.results.front());
    for (const auto &[index, operand] : llvm::enumerate(op.getOperands()))
      add(operand, space.extents(), stepsOf(space.operands[index]), to);
  } else if (isProduct(&op)) {
    for (const auto &[index, operand] : llvm::enumerate(op.getOperands()))
      read(regions, operand, readBy(op, index));
  }
}

std::optional<space::Region> CertainReads::readBy(Operation &op, unsigned operand) const {
  const Value result = op.getResult(0);
  if (const space::Region *needed = of(result))
    return readBy(op, operand, *needed);
  const space::Region *some = linesOf(result);
  if (!some || !isProduct(&op) || !ir::dataDim(op.getOperand(operand)) ||
      !ir::dataDim(op.getOperand(1 - operand)))
    return std::nullopt;
  // All elements of a line of a product read the same elements of one operand.
  const space::IndexSpace space = llvm::cast<ir::IndexSpaceInterface>(op).indexSpace();
  const auto loop = space.results.front().loopAlong(static_cast<unsigned>(*ir::dataDim(result)));
  if (!loop || space.operands[operand].moves(*loop))
    return std::nullopt;
  return space::regionRead(space.extents(), space.operands[operand], space.results.front(), *some);
}

std::optional<space::Region> CertainReads::readBy(Operation &op, unsigned operand,
                                                  const space::Region &needed) const {
  auto spaced = llvm::dyn_cast<ir::IndexSpaceInterface>(op);
  if (llvm::isa<ir::MapOp>(op) && ir::dataDim(op.getOperand(operand)) && !needed.empty())
    return needed;
  if (!spaced || !ir::dataDim(op.getOperand(operand)) ||
      (isProduct(&op) && !readsAll(op, operand, needed)))
    return std::nullopt;
  const space::IndexSpace space = spaced.indexSpace();
  return space::regionRead(space.extents(), space.operands[operand], space.results.front(), needed);
}

void CertainReads::read(llvm::DenseMap<Value, space::Region> &known, Value value,
                        const std::optional<space::Region> &region) {
  if (!region || !ir::dataDim(value))
    return;
  const auto [found, added] = known.try_emplace(value, *region);
  if (added)
    return;
  // The steps of a recurrence read neighbouring boxes, and their union is a box.
  const space::Region both = space::around(found->second, *region),
                      common = space::intersection(found->second, *region);
  const int64_t elements =
      found->second.size() + region->size() - (common.empty() ? 0 : common.size());
  if (both.size() == elements)
    found->second = both;
  else if (region->size() > found->second.size())
    found->second = *region;
}

/// Whether the elements `needed` of a product multiply each element of an operand that they read
/// with a weight that is not zero.
bool CertainReads::readsAll(Operation &product, unsigned operand,
                            const space::Region &needed) const {
  const Value weights = product.getOperand(1 - operand);
  if (ir::dataDim(weights))
    return true;
  const llvm::ArrayRef<float> values = constants.of(weights);
  const Loops loops = loopsOf(&product);
  const std::vector<int64_t> &x = operand == 0 ? loops.lhs : loops.rhs,
                             &w = operand == 0 ? loops.rhs : loops.lhs;
  for (const auto &[axis, extent] : llvm::enumerate(ir::shapeOf(product.getResult(0)))) {
    const size_t loop = loops.resultAxes[axis];
    if (needed.extents[axis] != extent && (loop == kNoLoop || w[loop] != 0))
      return false;
  }
  std::vector<size_t> shared, features; // loops that move the weights with the operand, or alone
  for (size_t loop = 0; loop < loops.extents.size(); ++loop)
    if (w[loop] != 0)
      (x[loop] != 0 ? shared : features).push_back(loop);
  const std::vector<Trip> sums = loops.trips(shared, operand == 0),
                          results = loops.trips(features, operand == 0);
  const auto isRead = [&](int64_t index) {
    return !values.empty() &&
           std::fabs(values.size() == 1 ? values[0] : values[index]) >= kLeastWeight;
  };
  return std::ranges::all_of(sums, [&](const Trip &sum) {
    return std::ranges::any_of(results,
                               [&](const Trip &result) { return isRead(result.w + sum.w); });
  });
}

} // namespace sluice::rows
