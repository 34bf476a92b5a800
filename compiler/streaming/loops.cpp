// Loops along time: an inference makes the trips of its steps, and keeps what they hand on.
#include "compiler/streaming/steps.h"

#include <fmt/format.h>

#include "compiler/dialect/sluice/selection.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::streaming {

bool Steps::loopReads(ir::LoopOp op, std::vector<Read> &reads) {
  const size_t carried = op.getInitial().size(), before = result.problems.size();
  const auto slices = op.slices();
  bool otherAxis = false, backwards = false;
  for (auto [i, sequence] : llvm::enumerate(op.getSequences())) {
    const Timing time = timing(sequence);
    if (time.kind == Timing::AsOfNow)
      refuse(op.getLoc(),
             fmt::format("sequence {} of the loop depends on all steps at once at once", i));
    if (time.kind != Timing::Stream)
      continue;
    otherAxis |= time.sequence.axis != slices[i].axis;
    backwards |= slices[i].reversed;
    Read read;
    read.operand = static_cast<unsigned>(carried + i);
    read.timing = time;
    reads.push_back(read);
  }
  const llvm::SmallVector<Value> read = ir::readValues(op);
  const auto captured = llvm::ArrayRef(read).drop_front(op->getNumOperands());
  for (auto [i, stack] : llvm::enumerate(op.stacks()))
    backwards |= stack.reversed && !op.getResult(carried + i).use_empty();
  if (otherAxis)
    refuse(op.getLoc(), "the loop runs along another axis than the streamed one");
  else if (backwards)
    refuse(op.getLoc(), "the loop runs from the end of the sequence to its start");
  else if (llvm::any_of(captured, [&](Value value) { return timing(value).kind != Timing::Fixed; }))
    refuse(op.getLoc(), "an iteration reads other steps of the sequence than its own");
  else if (llvm::any_of(op.getInitial(),
                        [&](Value value) { return timing(value).kind == Timing::Stream; }))
    refuse(op.getLoc(), "the initial value of the loop is a whole sequence");
  else if (llvm::any_of(reads, [&](const Read &read) {
             return read.timing.sequence.every != reads.front().timing.sequence.every;
           }))
    refuse(op.getLoc(), "the loop reads sequences with different numbers of positions per step");
  return result.problems.size() == before;
}

Value Steps::initial(ir::LoopOp op, unsigned index) {
  const Value value = op.getInitial()[index];
  if (timing(value).kind == Timing::AsOfNow)
    return now(value); // a state of the model itself, by --state
  const auto first = ir::constantValue(value);
  if (!first) {
    refuse(
        op.getLoc(), fmt::format("carried value {} starts from an input of each inference", index),
        {fix(
            "keep the input on the chip (--state IN=OUT), or make it a constant (--bind NAME=0)")});
    return nullptr;
  }
  const bool zero = llvm::all_of(first->values, [](double one) { return one == 0; });
  return builder.create<ir::StateOp>(
      op.getLoc(), value.getType(),
      zero ? ElementsAttr() : ElementsAttr(ir::toElements(*first, builder.getContext())));
}

void Steps::loop(ir::LoopOp op) {
  std::vector<Read> reads;
  if (!loopReads(op, reads))
    return giveUp(*op);
  const auto carried = static_cast<unsigned>(op.getInitial().size());
  const auto trips = static_cast<int64_t>(op.getTrips());

  Timing time{Timing::Stream, Sequence{0, 1, 0}, trips};
  time.reader = op.getLoc();
  for (const Read &read : reads) {
    time.sequence.every = read.timing.sequence.every;
    time.sequence.behind = std::max(time.sequence.behind, read.timing.sequence.behind);
    if (read.timing.reader)
      time.reader = read.timing.reader;
  }
  // What the last trip hands on is as of now where the last position is the newest.
  const bool isRead = llvm::any_of(op.getResults().take_front(carried),
                                   [](Value value) { return !value.use_empty(); });
  if (isRead) {
    if (!mayBeLate(time, kAsOfNow))
      return giveUp(*op);
    time.sequence.behind -= std::min<int64_t>(0, ahead(time));
  }

  const int64_t count = perInference(time.sequence), behind = time.sequence.behind;
  llvm::SmallVector<Value> begin, sequences;
  for (const unsigned i : llvm::seq(0U, carried)) {
    begin.push_back(initial(op, i));
    if (!begin.back())
      return giveUp(*op);
  }
  for (auto [i, sequence] : llvm::enumerate(op.getSequences())) {
    const Timing of = timing(sequence);
    sequences.push_back(of.kind == Timing::Stream
                            ? positions(sequence, of.sequence.behind - behind, count)
                            : alongTime(op.getLoc(), sequence, op.getSliceAxes()[i], count));
    if (!sequences.back())
      return giveUp(*op);
  }

  // Before the first position what is carried stays as it begins.
  llvm::SmallVector<int64_t> axes(op.getSliceAxes());
  llvm::SmallVector<bool> reversed(op.getSliceReversed());
  llvm::SmallVector<Value> begun;
  if (behind > 0)
    for (const Value value : begin) {
      llvm::SmallVector<int64_t> shape(ir::shapeOf(value));
      shape.insert(shape.begin(), count);
      begun.push_back(history.begun(shape, 0, behind));
      axes.push_back(0);
      reversed.push_back(false);
    }
  sequences.append(begun);
  llvm::SmallVector<Type> types(op.getResultTypes());
  for (auto [i, stack] : llvm::enumerate(op.stacks()))
    types[carried + i] = ir::withExtent(ir::typeOf(op.getResult(carried + i)), stack.axis, count);
  auto made =
      builder.create<ir::LoopOp>(op.getLoc(), types, static_cast<uint64_t>(count), begin, sequences,
                                 axes, reversed, op.getStackAxes(), op.getStackReversed());
  IRMapping mapping;
  op.getBody().cloneInto(&made.getBody(), mapping);
  Block &body = made.getBody().front();
  Operation *next = body.getTerminator();
  const OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(next);
  for (const unsigned i : llvm::seq<unsigned>(0, begun.size())) {
    const Value before = op.getInitial()[i];
    const Value begins = timing(before).kind == Timing::Fixed ? before : body.getArgument(i);
    const Value test = body.addArgument(begin[i].getType(), op.getLoc());
    next->setOperand(i, ir::select(builder, op.getLoc(), test, next->getOperand(i), begins));
  }
  builder.setInsertionPointAfter(made);
  for (const unsigned i : llvm::seq(0U, carried)) {
    const Value last = made.getResult(i);
    if (timing(op.getInitial()[i]).kind == Timing::Fixed)
      builder.create<ir::KeepOp>(op.getLoc(), last.getType(), last, begin[i]);
    set(op.getResult(i), last, Timing{Timing::AsOfNow});
  }
  for (auto [i, stack] : llvm::enumerate(op.stacks())) {
    Timing of = time;
    of.sequence.axis = static_cast<unsigned>(stack.axis);
    set(op.getResult(carried + i), made.getResult(carried + i), of);
  }
}

} // namespace sluice::streaming
