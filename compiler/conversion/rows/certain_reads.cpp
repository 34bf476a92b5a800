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
    read(output, space::wholeOf(ir::shapeOf(output)));
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (op.getNumResults() == 1 && ir::dataDim(op.getResult(0)))
      add(op);
}

const space::Region *CertainReads::of(Value value) const {
  const auto found = regions.find(value);
  return found == regions.end() ? nullptr : &found->second;
}

double CertainReads::leastBehind(Value value) const {
  const auto found = behind.find(value);
  return found == behind.end() ? 1 : found->second;
}

void CertainReads::add(Operation &op) {
  const Value result = op.getResult(0);
  auto map = llvm::dyn_cast<ir::MapOp>(op);
  const double scale = map ? scaleOf(map, constants).least : 1;
  if (map)
    for (const Value input : map.getInputs()) {
      double &least = behind.try_emplace(input, 1).first->second;
      least = std::min(least, scale * leastBehind(result));
    }
  const space::Region *region = of(result);
  if (!region || scale < kLeastWeight)
    return;
  const space::Region needed = *region;
  if (auto view = llvm::dyn_cast<ir::ViewInterface>(op)) {
    const space::Pieces pieces = view.pieces();
    for (const space::Piece &piece : pieces.pieces)
      read(op.getOperand(piece.operand), space::regionRead(pieces, piece, needed, op.getContext()));
    return;
  }
  for (const auto &[index, operand] : llvm::enumerate(op.getOperands()))
    read(operand, readBy(op, index));
}

std::optional<space::Region> CertainReads::readBy(Operation &op, unsigned operand) const {
  const space::Region *needed = of(op.getResult(0));
  auto spaced = llvm::dyn_cast<ir::IndexSpaceInterface>(op);
  if (!needed || !spaced || !ir::dataDim(op.getOperand(operand)) ||
      (isProduct(&op) && !readsAll(op, operand, *needed)))
    return std::nullopt;
  const space::IndexSpace space = spaced.indexSpace();
  return space::regionRead(space.extents(), space.operands[operand], space.results.front(),
                           *needed);
}

void CertainReads::read(Value value, const std::optional<space::Region> &region) {
  if (!region || !ir::dataDim(value))
    return;
  const auto [known, added] = regions.try_emplace(value, *region);
  if (!added && region->size() > known->second.size())
    known->second = *region;
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
