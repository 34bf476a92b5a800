#include "compiler/streaming/steps.h"

#include <numeric>

#include <fmt/format.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::streaming {

using space::IndexSpace;
using space::Projection;

Steps::Steps(FunctionOpInterface function, const Options &options)
    : function(function), options(options),
      builder(OpBuilder::atBlockBegin(&function.getFunctionBody().front())), history(builder) {}

Value Steps::now(Value value) const {
  const auto found = result.replaced.find(value);
  return found == result.replaced.end() ? value : found->second;
}

void Steps::set(Value value, Value replacement, Timing timing) {
  if (timing.kind == Timing::Stream && ahead(timing) <= 0)
    timing.reader.reset();
  timings[value] = std::move(timing);
  if (value != replacement)
    result.replaced[value] = replacement;
}

void Steps::refuse(Location where, std::string message, std::vector<Fix> fixes) {
  result.problems.push_back(refusal(where, std::move(message), std::move(fixes)));
  result.locations.push_back(where);
}

void Steps::giveUp(Operation &op) {
  for (const Value value : op.getResults())
    timings[value] = Timing{Timing::Refused};
}

void Steps::reject(Operation *op, std::string message, std::vector<Fix> fixes) {
  refuse(op->getLoc(), std::move(message), std::move(fixes));
  giveUp(*op);
}

int64_t Steps::ahead(const Timing &timing) const {
  return timing.length + timing.sequence.behind -
         static_cast<int64_t>(llvm::divideCeil(total + options.beyond, timing.sequence.every));
}

bool Steps::mayBeLate(const Timing &timing, const std::string &what) {
  const int64_t late = ahead(timing) * timing.sequence.every;
  result.late = std::max(result.late, late);
  if (late <= options.delay)
    return true;
  refuse(*timing.reader,
         fmt::format("the operation reads {} ahead, and {} would have to wait",
                     counted(late, "step"), what),
         {fixByFlag(fmt::format("delay the outputs by {}", counted(late, "step")),
                    fmt::format("--stream-delay {}", late))});
  return false;
}

Value Steps::positions(Value value, int64_t first, int64_t count) {
  const Timing time = timing(value);
  return history.positions(now(value), time.sequence.axis, first, count,
                           time.sequence.behind < 0 ? time.past : 0);
}

Result Steps::run() {
  if (!takeInputs())
    return std::move(result);
  Block &block = function.getFunctionBody().front();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    operation(op);
  outputs();
  if (!result.problems.empty())
    return std::move(result);

  Operation *end = block.getTerminator();
  for (OpOperand &operand : end->getOpOperands())
    operand.set(now(operand.get()));
  llvm::DenseSet<Value> dead;
  for (Operation &op : llvm::make_early_inc_range(llvm::drop_begin(llvm::reverse(block)))) {
    const auto replaced = [&](Value value) { return result.replaced.contains(value); };
    if (op.getNumResults() > 0 && llvm::all_of(op.getResults(), replaced))
      op.erase();
    else if (isOpTriviallyDead(&op)) {
      dead.insert(op.result_begin(), op.result_end());
      op.erase();
    }
  }
  for (auto &[value, replacement] : result.replaced)
    replacement = dead.contains(replacement) ? nullptr : history.stored(replacement);
  for (const Value value : dead)
    result.replaced[value] = nullptr;
  for (const unsigned index : llvm::reverse(llvm::seq(0U, function.getNumArguments())))
    if (result.replaced.contains(function.getArgument(index)))
      function.eraseArgument(index);
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                     end->getOperandTypes()));
  return std::move(result);
}

void Steps::operation(Operation &op) {
  bool stream = false, pairsOf = false, asOfNow = llvm::isa<ir::StateOp>(op);
  for (const Value value : ir::readValues(&op)) {
    const Timing::Kind kind = timing(value).kind;
    if (kind == Timing::Refused)
      return giveUp(op);
    stream |= kind == Timing::Stream || kind == Timing::Pairs;
    pairsOf |= kind == Timing::Pairs;
    asOfNow |= kind == Timing::AsOfNow;
  }
  if (!stream) {
    if (!asOfNow)
      return;
    op.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        operand.set(now(operand.get()));
    });
    for (const Value value : op.getResults())
      timings[value] = Timing{Timing::AsOfNow};
    return;
  }
  builder.setInsertionPoint(&op);
  auto spaced = llvm::dyn_cast<ir::IndexSpaceInterface>(op);
  if (pairsOf && spaced)
    return pairs(spaced);
  if (auto loopOp = llvm::dyn_cast<ir::LoopOp>(op); loopOp && !pairsOf)
    return loop(loopOp);
  if (spaced)
    return streamed(spaced);
  reject(&op, pairsOf ? "the operation splits pairs of positions"
                      : "a state keeps all positions of the sequence");
}

void Steps::streamed(ir::IndexSpaceInterface op) {
  const Location where = op->getLoc();
  const IndexSpace space = op.indexSpace();
  llvm::SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value value) { return now(value); });

  std::vector<Read> reads;
  bool asOfNow = false;
  for (const unsigned i : llvm::seq(0U, op->getNumOperands())) {
    const Timing time = timing(op->getOperand(i));
    asOfNow |= time.kind == Timing::AsOfNow;
    if (time.kind != Timing::Stream)
      continue;
    // One position alone is as of now, once no loop runs along it.
    const Projection &projection = space.operands[i];
    const bool alone = time.length == 1 && projection.region[time.sequence.axis] == 1 &&
                       llvm::none_of(llvm::seq<unsigned>(0, space.loops.size()), [&](unsigned l) {
                         return projection.step(time.sequence.axis, l) != 0;
                       });
    if (alone) {
      operands[i] = newest(op->getOperand(i));
      asOfNow = true;
      continue;
    }
    const auto read = readOf(op, space, i);
    if (!read)
      return giveUp(*op);
    reads.push_back(*read);
  }
  if (asOfNow && !reads.empty())
    return reject(
        op, "the operation combines single positions with a value that depends on all of them");
  if (reads.empty()) {
    if (llvm::is_contained(operands, nullptr))
      return giveUp(*op);
    Operation *copy = ir::cloneWith(op, builder, operands, op->getResult(0).getType());
    return set(op->getResult(0), copy->getResult(0), Timing{Timing::AsOfNow});
  }

  const Read &one = reads.front();
  const unsigned along = one.loop;
  const int64_t every = one.timing.sequence.every * one.stride;
  const int64_t length = space.loops[along].extent;
  if (llvm::any_of(reads, [&](const Read &read) { return read.loop != along; }))
    return pair(op, space, reads);
  for (const Read &read : reads)
    if (read.timing.sequence.every * read.stride != every)
      return refuseRates(op, every, read.timing.sequence.every * read.stride);
  const auto axis = space.results.front().axisAlong(along);
  if (!axis)
    return reject(op, "one axis of the result mixes positions of the sequence with other elements");

  // A slice of the last position.
  if (reads.size() == 1 && length == 1 && one.timing.length > 1 && one.first == one.last &&
      one.last == one.timing.length - 1) {
    operands[one.operand] = newest(op->getOperand(one.operand));
    if (!operands[one.operand])
      return giveUp(*op);
    return set(op->getResult(0), op.resized(builder, operands, *axis, 1)->getResult(0),
               Timing{Timing::AsOfNow});
  }
  if (steps % every != 0) {
    const StreamedInput &input = options.inputs.front();
    const int64_t together = std::lcm(steps, every);
    result.together = every;
    return reject(op,
                  fmt::format("the operation writes a position every {}, but an inference takes {}",
                              counted(every, "step"), counted(steps, "step")),
                  {fixByFlag(fmt::format("take {} per inference", counted(together, "step")),
                             fmt::format("--stream {}={}:{}", input.name, input.axis, together))});
  }

  Timing time{Timing::Stream, Sequence{*axis, every, 0}, length};
  for (const Read &read : reads)
    time.sequence.behind =
        std::max(time.sequence.behind,
                 llvm::divideFloorSigned(read.last + read.timing.sequence.behind, read.stride));
  // A border in front moves the positions: what is new now is one of those to come.
  if (space.work == space::Work::Address && one.stride == 1 && one.first == one.last &&
      one.first < 0 && one.outside) {
    time.sequence.behind = one.timing.sequence.behind + one.first;
    time.past = *one.outside;
  }
  time.reader = where;
  const int64_t count = perInference(time.sequence);
  for (const Read &read : reads) {
    if (read.timing.reader &&
        ahead(read.timing) * read.timing.sequence.every >= ahead(time) * every)
      time.reader = read.timing.reader;
    operands[read.operand] = readNow(op, read, time.sequence.behind, count, length);
  }
  for (const unsigned i : llvm::seq(0U, op->getNumOperands())) {
    const Projection &projection = space.operands[i];
    if (timing(op->getOperand(i)).kind != Timing::Fixed || !projection.moves(along))
      continue;
    const auto moved = projection.axisAlong(along);
    operands[i] = alongTime(where, op->getOperand(i), moved, count);
    if (!operands[i])
      return giveUp(*op);
  }
  Operation *made = op.resized(builder, operands, *axis, count);
  set(op->getResult(0), made->getResult(0), std::move(time));
}

} // namespace sluice::streaming
