// What an operation reads of its operands in one inference.
#include <fmt/format.h>

#include "compiler/reference/ops.h"
#include "compiler/streaming/steps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::streaming {
namespace {

using space::IndexSpace;
using space::LoopKind;
using space::Projection;

/// The first elements of a constant along an axis, if it is the same at all of them.
Value shortened(OpBuilder &builder, ir::ConstantOp constant, unsigned axis, int64_t count) {
  const reference::Tensor all = ir::toTensor(constant.getValue());
  if (!isSameAlong(all, axis))
    return nullptr;
  reference::Shape shape = all.shape;
  shape[axis] = count;
  return builder.create<ir::ConstantOp>(constant.getLoc(),
                                        reference::broadcast(firstAlong(all, axis), shape));
}

} // namespace

std::optional<Steps::Read> Steps::readOf(ir::IndexSpaceInterface op, const IndexSpace &space,
                                         unsigned operand) {
  Read read;
  read.operand = operand;
  read.timing = timing(op->getOperand(operand));
  const Projection &projection = space.operands[operand];
  const unsigned axis = read.timing.sequence.axis;
  read.outside = projection.outside;
  read.first = read.last = projection.offset(axis);
  bool found = false;
  for (const unsigned loop : llvm::seq<unsigned>(0, space.loops.size())) {
    const int64_t step = projection.step(axis, loop);
    if (step == 0)
      continue;
    if (!found) { // the loops of what a position consists of follow that of the positions
      found = true;
      read.loop = loop;
      read.stride = step;
      continue;
    }
    const int64_t reach = step * (space.loops[loop].extent - 1);
    (reach < 0 ? read.first : read.last) += reach;
  }
  const auto no = [&](std::string why, std::vector<Fix> fixes = {}) {
    refuse(op->getLoc(), std::move(why), std::move(fixes));
    return std::nullopt;
  };
  if (!found || projection.region[axis] != 1)
    return no(fmt::format("the operation needs all {} positions of operand {} at once",
                          read.timing.length, operand));
  if (space.loops[read.loop].kind != LoopKind::Parallel)
    return no(fmt::format("the operation reduces all {} positions of operand {}",
                          read.timing.length, operand),
              {fix("reduce a window of fixed length instead, with a pooling or a convolution")});
  if (read.stride < 0)
    return no("the operation reads the sequence from its end");
  return read;
}

Value Steps::ended(Value value, double outside) {
  Value &made = endedStreams[{value.getAsOpaquePointer(), outside}];
  if (!made) {
    const Timing time = timing(value);
    made = history.ended(now(value), time.sequence, time.length, outside);
  }
  return made;
}

Value Steps::readNow(ir::IndexSpaceInterface op, const Read &read, int64_t behind, int64_t count,
                     int64_t length) {
  const Value value = op->getOperand(read.operand);
  const auto &[axis, every, of] = read.timing.sequence;
  const double outside = read.outside.value_or(0);
  const int64_t first = read.first - behind * read.stride + of,
                span = (count - 1) * read.stride + read.last - read.first + 1;
  // Where the sequence ends within the inferences, windows at its end see their border.
  const bool reachesOver = read.last + (length - 1) * read.stride >= read.timing.length;
  const bool isZero = llvm::isa<BlockArgument>(value) && outside == 0; // so the host offers it
  Value stream = options.beyond != 0 && reachesOver && !isZero ? ended(value, outside) : now(value);
  if (of < 0 && (read.first >= 0 || outside == read.timing.past))
    return history.positions(stream, axis, first, span, read.timing.past);
  if (of < 0) // two borders: the inner one is written
    return history.positions(
        history.positions(stream, axis, of, perInference(read.timing.sequence), read.timing.past),
        axis, first - of, span, outside);
  if (of > 0 && read.first < 0)
    stream = history.masked(stream, read.timing.sequence, outside);
  return history.positions(stream, axis, first, span, outside);
}

Value Steps::newest(Value value) {
  const Timing time = timing(value);
  if (!mayBeLate(time, kAsOfNow))
    return nullptr;
  const int64_t older = std::max<int64_t>(0, -ahead(time));
  return positions(value, perInference(time.sequence) - 1 - older, 1);
}

Value Steps::repeated(Value value, unsigned axis, int64_t count) {
  using Place = std::pair<Value, unsigned>; // value and axis
  llvm::DenseMap<Place, Value> made;
  llvm::SmallVector<Place> pending{{value, axis}};
  while (!pending.empty()) {
    const Place place = pending.back();
    if (made.contains(place)) {
      pending.pop_back();
      continue;
    }
    Operation *op = place.first.getDefiningOp();
    if (auto constant = llvm::dyn_cast_if_present<ir::ConstantOp>(op)) {
      const Value shorter = shortened(builder, constant, place.second, count);
      if (!shorter)
        return nullptr;
      made[place] = shorter;
      continue;
    }
    auto spaced = llvm::dyn_cast_if_present<ir::IndexSpaceInterface>(op);
    if (!spaced)
      return nullptr;
    const IndexSpace space = spaced.indexSpace();
    const auto along = space.results.front().loopAlong(place.second);
    if (!along)
      return nullptr;
    llvm::SmallVector<Value> operands(op->getOperands());
    const size_t before = pending.size();
    for (auto [operand, projection] : llvm::zip_equal(operands, space.operands)) {
      if (!projection.moves(*along))
        continue;
      const auto moved = projection.axisAlong(*along);
      if (!moved)
        return nullptr;
      if (const auto known = made.find({operand, *moved}); known != made.end())
        operand = known->second;
      else
        pending.push_back({operand, *moved});
    }
    if (pending.size() != before)
      continue; // operands first
    made[place] = spaced.resized(builder, operands, place.second, count)->getResult(0);
    pending.pop_back();
  }
  return made.at({value, axis});
}

Value Steps::alongTime(Location where, Value value, std::optional<unsigned> axis, int64_t count) {
  const Value changed = axis ? repeated(value, *axis, count) : nullptr;
  if (!changed)
    refuse(
        where,
        "the operation combines the sequence with a tensor that varies by position and is not "
        "streamed",
        {fix(
            "stream the tensor too if it is an input; a constant must be equal at all positions")});
  return changed;
}

} // namespace sluice::streaming
