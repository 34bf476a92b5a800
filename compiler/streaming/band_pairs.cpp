// What an inference computes of a band of pairs: the rows of its own positions.
#include <fmt/format.h>

#include "compiler/dialect/sluice/selection.h"
#include "compiler/streaming/steps.h"
#include "runtime/addressing/addressing.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::streaming {

using reference::Tensor;
using space::IndexSpace;
using space::Projection;

Operation *Steps::inBand(ir::IndexSpaceInterface op, const Pairing &pairing) {
  const IndexSpace space = op.indexSpace();
  llvm::SmallVector<Value> operands;
  for (const unsigned i : llvm::seq(0U, op->getNumOperands())) {
    operands.push_back(operandInBand(op, i, space.operands[i], pairing));
    if (!operands.back())
      return nullptr;
  }
  const Projection &projection = space.results.front();
  const auto own = projection.axisAlong(pairing.along),
             others = projection.axisAlong(pairing.across);
  Operation *made = op.resized(builder, operands, *own, pairing.count);
  if (!others)
    return made;
  Operation *both = llvm::cast<ir::IndexSpaceInterface>(made).resized(builder, operands, *others,
                                                                      pairing.others());
  made->erase();
  return both;
}

Value Steps::operandInBand(ir::IndexSpaceInterface op, unsigned operand,
                           const Projection &projection, const Pairing &pairing) {
  const Value value = op->getOperand(operand);
  const Timing time = timing(value);
  const auto own = projection.axisAlong(pairing.along),
             others = projection.axisAlong(pairing.across);
  // Several rows of an inference are those of one stretch of others, and cannot be later by some.
  if (time.band && time.sequence.behind != pairing.behind && pairing.count > 1) {
    refuse(op->getLoc(),
           fmt::format("the operands lag by {} and {}; they must lag equally at {} per inference",
                       counted(time.sequence.behind, "position"),
                       counted(pairing.behind, "position"), counted(pairing.count, "position")),
           {fix("stream one position per inference")});
    return nullptr;
  }
  if (time.kind == Timing::Pairs)
    return pairsOf(value, pairing);
  if (time.kind == Timing::Fixed) {
    if (own && others)
      return constantInBand(op->getLoc(), value, *own, *others, pairing);
    if (!own && !others)
      return now(value);
    return alongTime(op->getLoc(), value, own ? own : others,
                     own ? pairing.count : pairing.others());
  }
  // The first position of the inference, counted in what it gives of this stream.
  const unsigned axis = time.sequence.axis;
  const int64_t first = time.sequence.behind - pairing.behind;
  const auto loop = projection.loopAlong(axis);
  Value read;
  if (loop == pairing.across && !own) {
    // What lies before the first position is multiplied by zero, and must be a number.
    const Value begun =
        time.sequence.behind > 0 ? history.masked(now(value), time.sequence, 0) : now(value);
    read = history.positions(begun, axis, first - pairing.band.older, pairing.others());
  } else if (loop == pairing.along) {
    const Value each = others ? repeated(now(value), *others, pairing.others()) : now(value);
    read = each ? history.positions(each, axis, first, pairing.count) : nullptr;
  }
  if (!read)
    refuse(op->getLoc(), kOtherPairs);
  return read;
}

Value Steps::pairsOf(Value value, const Pairing &pairing) {
  const Timing time = timing(value);
  if (time.band)
    return history.positions(now(value), pairing.band.swapped ? time.others : time.sequence.axis,
                             time.sequence.behind - pairing.behind, pairing.count);
  auto op = llvm::cast<ir::IndexSpaceInterface>(value.getDefiningOp());
  const Projection projection = op.indexSpace().results.front();
  Pairing own = pairing;
  own.masks = false;
  own.along = *projection.loopAlong(time.sequence.axis);
  own.across = *projection.loopAlong(time.others);
  if (pairing.band.swapped)
    std::swap(own.along, own.across);
  Operation *made = inBand(op, own);
  return made ? made->getResult(0) : nullptr;
}

Value Steps::constantInBand(Location where, Value value, unsigned own, unsigned others,
                            const Pairing &pairing) {
  const auto constant = ir::constantValue(value);
  if (!constant) {
    refuse(where, "an operand with a value for each pair of positions must be a constant");
    return nullptr;
  }
  const ByPair whole(constant->shape, own, others);
  const int64_t older = pairing.band.older, newer = pairing.band.newer;
  if (!dependsOnDistance(*constant, whole)) {
    refuse(where, "a constant over pairs of positions must depend on their distance alone");
    return nullptr;
  }
  // Other axes along which it is the same have one element, until the end.
  reference::Shape shape = constant->shape;
  for (const unsigned axis : llvm::seq<unsigned>(0, shape.size()))
    if (axis != own && axis != others && isSameAlong(*constant, axis))
      shape[axis] = 1;
  const auto all = ir::shapeOf(value);
  llvm::SmallVector<int64_t> result(all.begin(), all.end());
  shape[own] = result[own] = pairing.count;
  shape[others] = result[others] = pairing.others();
  Tensor inside(shape), outside(shape);
  const ByPair part(shape, own, others);
  const auto strides = addressing::rowMajorStrides(constant->shape),
             partStrides = addressing::rowMajorStrides(shape);
  part.forEach([&](int64_t base) {
    int64_t from = 0; // the same place in the whole
    for (const unsigned axis : llvm::seq<unsigned>(0, shape.size()))
      from += base / partStrides[axis] % shape[axis] * strides[axis];
    const double beyond = constant->values[whole.at(from, older + 1, 0)];
    for (int64_t i = 0; i < pairing.count; ++i)
      for (int64_t j = 0; j < pairing.others(); ++j) {
        const int64_t back = i + older - j;
        const bool isInside = back <= older && -back <= newer;
        const size_t at = part.at(base, i, j);
        inside.values[at] = isInside ? constant->values[whole.at(from, std::max<int64_t>(back, 0),
                                                                 std::max<int64_t>(-back, 0))]
                                     : beyond;
        // A row before the first position has no meaning, but is a number: it reads itself.
        outside.values[at] = back == 0 ? inside.values[at] : beyond;
      }
  });
  const auto made = [&](const Tensor &tensor) -> Value {
    return builder.create<ir::ConstantOp>(where, tensor);
  };
  const auto broadcast = [&](Value from, llvm::ArrayRef<int64_t> to) -> Value {
    return ir::shapeOf(from) == to ? from : builder.create<ir::BroadcastOp>(where, from, to);
  };
  Value read = made(inside);
  // What lies before the first position is masked like what is older than the window.
  if (const int64_t first = -pairing.behind - older; pairing.masks && first < 0) {
    llvm::SmallVector<int64_t> line(shape.size(), 1);
    line[others] = pairing.count;
    const Value begun = history.positions(made(filled(line, 1)), others, first, pairing.others());
    read = ir::select(builder, where, broadcast(begun, shape), read, made(outside));
  }
  return broadcast(read, result);
}

} // namespace sluice::streaming
