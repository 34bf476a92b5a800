#include "compiler/streaming/steps.h"

#include <numeric>

#include <fmt/format.h>

#include "compiler/reference/ops.h"
#include "compiler/support/suggestion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::streaming {
namespace {

using space::IndexSpace;
using space::LoopKind;
using space::Projection;

std::string nameOf(FunctionOpInterface function, unsigned argument) {
  const auto name = function.getArgAttrOfType<StringAttr>(argument, ir::kNameAttr);
  return name ? name.str() : "";
}

/// The first elements of a constant along an axis, if it is the same at all of them.
Value shortened(OpBuilder &builder, ir::ConstantOp constant, unsigned axis, int64_t count) {
  const reference::Tensor all = ir::toTensor(constant.getValue());
  if (!isSameAlong(all, axis))
    return nullptr;
  reference::Shape starts(all.shape.size(), 0), steps(all.shape.size(), 1), sizes = all.shape;
  sizes[axis] = 1;
  const reference::Tensor first = reference::slice(all, starts, sizes, steps);
  sizes[axis] = count;
  return builder.create<ir::ConstantOp>(
      constant.getLoc(), ir::toElements(reference::broadcast(first, sizes), builder.getContext()));
}

} // namespace

std::optional<unsigned> axisAlong(const Projection &projection, unsigned loop) {
  for (unsigned axis = 0; axis < projection.rank(); ++axis)
    if (projection.loopAlong(axis) == loop)
      return axis;
  return std::nullopt;
}

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
         fmt::format("it reads {} beyond the newest, which {} would have to wait for",
                     counted(late, "step"), what),
         {fixByFlag(fmt::format("let the outputs be {} late", counted(late, "step")),
                    fmt::format("--stream-delay {}", late))});
  return false;
}

Value Steps::positions(Value value, int64_t first, int64_t count) {
  const Timing time = timing(value);
  return history.positions(now(value), time.sequence.axis, first, count,
                           time.sequence.behind < 0 ? time.past : 0);
}

bool Steps::takeInputs() {
  const auto refuseOption = [&](std::string message) -> Problem & {
    result.locations.push_back(function.getLoc());
    return result.problems.emplace_back(wrongOption(std::move(message)));
  };
  std::vector<std::string> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    names.push_back(nameOf(function, i));
  for (const StreamedInput &input : options.inputs) {
    const auto place = llvm::find(names, input.name);
    if (place == names.end()) {
      refuseOption(fmt::format("no input of the model is called '{}'", input.name)).fixes =
          suggestion(input.name, names);
      continue;
    }
    const auto index = static_cast<unsigned>(place - names.begin());
    const BlockArgument argument = function.getArgument(index);
    const auto type = llvm::cast<RankedTensorType>(argument.getType());
    if (input.axis < 0 || input.axis >= type.getRank()) {
      refuseOption(fmt::format("input '{}' has rank {}, there is no axis {} to stream along",
                               input.name, type.getRank(), input.axis));
      continue;
    }
    const int64_t extent = type.getDimSize(input.axis);
    if (input.steps < 1 || input.steps > extent) {
      refuseOption(
          fmt::format("input '{}' has {} along axis {}, which are not streamed {} at a time",
                      input.name, counted(extent, "step"), input.axis, input.steps));
      continue;
    }
    if (total != 0 && (extent != total || input.steps != steps)) {
      refuseOption(fmt::format("input '{}' has {}, {} at a time, and another one {}, {} at a time: "
                               "inputs are streamed together",
                               input.name, counted(extent, "step"), input.steps, total, steps));
      continue;
    }
    total = extent;
    steps = input.steps;
    timings[argument] =
        Timing{Timing::Stream, Sequence{static_cast<unsigned>(input.axis), 1, 0}, extent};
  }
  if (!result.problems.empty())
    return false;
  // Behind those of before, which are erased at the end.
  for (const unsigned index : llvm::reverse(llvm::seq(0U, function.getNumArguments()))) {
    const BlockArgument argument = function.getArgument(index);
    const Timing time = timing(argument);
    if (time.kind != Timing::Stream)
      continue;
    llvm::SmallVector<int64_t> shape(ir::shapeOf(argument));
    shape[time.sequence.axis] = steps;
    function.insertArgument(index + 1, RankedTensorType::get(shape, builder.getF32Type()),
                            function.getArgAttrDict(index), argument.getLoc());
    result.replaced[argument] = function.getArgument(index + 1);
  }
  return true;
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
    if (dead.contains(replacement))
      replacement = nullptr;
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
  refuse(op.getLoc(), pairsOf ? "it takes pairs of positions apart"
                              : "it keeps all positions of the sequence as a state");
  giveUp(op);
}

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
    return no(fmt::format("it takes all {} positions of its operand {} together",
                          read.timing.length, operand));
  if (space.loops[read.loop].kind != LoopKind::Parallel)
    return no(
        fmt::format("it merges all {} positions of its operand {}", read.timing.length, operand),
        {fix("merge a window of fixed length instead, by a pooling or a convolution")});
  if (read.stride < 0)
    return no("it reads the sequence from its end");
  return read;
}

void Steps::streamed(ir::IndexSpaceInterface op) {
  const Location where = op->getLoc();
  const IndexSpace space = op.indexSpace();
  llvm::SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value value) { return now(value); });
  const auto no = [&](std::string why, std::vector<Fix> fixes = {}) {
    refuse(where, std::move(why), std::move(fixes));
    giveUp(*op);
  };

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
    return no("it combines positions of a sequence with a value that depends on all of them");
  if (reads.empty()) {
    if (llvm::is_contained(operands, nullptr))
      return giveUp(*op);
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
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
  const auto axis = axisAlong(space.results.front(), along);
  if (!axis)
    return no("its result has the positions of the sequence and other elements in one axis");

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
    return no(fmt::format("it gives a position for every {}, and an inference takes {}",
                          counted(every, "step"), counted(steps, "step")),
              {fixByFlag(fmt::format("take {} in each inference", counted(together, "step")),
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
    const auto moved = axisAlong(projection, along);
    operands[i] = alongTime(where, op->getOperand(i), moved, count);
    if (!operands[i])
      return giveUp(*op);
  }
  Operation *made = op.resized(builder, operands, *axis, count);
  set(op->getResult(0), made->getResult(0), std::move(time));
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
  Operation *op = value.getDefiningOp();
  if (auto constant = llvm::dyn_cast_if_present<ir::ConstantOp>(op))
    return shortened(builder, constant, axis, count);
  auto spaced = llvm::dyn_cast_if_present<ir::IndexSpaceInterface>(op);
  if (!spaced)
    return nullptr;
  const IndexSpace space = spaced.indexSpace();
  const auto along = space.results.front().loopAlong(axis);
  if (!along)
    return nullptr;
  llvm::SmallVector<Value> operands(op->getOperands());
  for (auto [operand, projection] : llvm::zip_equal(operands, space.operands)) {
    if (!projection.moves(*along))
      continue;
    const auto moved = axisAlong(projection, *along);
    operand = moved ? repeated(operand, *moved, count) : nullptr;
    if (!operand)
      return nullptr;
  }
  return spaced.resized(builder, operands, axis, count)->getResult(0);
}

Value Steps::alongTime(Location where, Value value, std::optional<unsigned> axis, int64_t count) {
  const Value changed = axis ? repeated(value, *axis, count) : nullptr;
  if (!changed)
    refuse(where,
           "it combines the sequence with a tensor that is not streamed and has a position "
           "for each of its own",
           {fix("if that is an input of the model, stream it too; a constant must be the same at "
                "all positions")});
  return changed;
}

void Steps::outputs() {
  Operation *end = function.getFunctionBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    const Timing time = timing(value);
    OutputPart &part = result.outputs.emplace_back();
    if (time.kind == Timing::Pairs)
      refuse(value.getLoc(), "an output has a value for each pair of positions");
    if (time.kind != Timing::Stream)
      continue;
    part = {time.sequence.axis, std::max<int64_t>(0, time.sequence.behind)};
    const auto known = function.getResultAttrOfType<StringAttr>(index, ir::kNameAttr);
    const std::string name =
        fmt::format("output '{}'", known ? known.str() : std::to_string(index));
    mayBeLate(time, name);
    const auto &[axis, every, behind] = time.sequence;
    if (behind > 0)
      result.notes.push_back(
          fmt::format("{} is {} behind the input: before its position {} it has no meaning", name,
                      counted(behind * every, "step"), behind));
    if (behind < 0) { // what is to come is kept for its step
      Timing inTime = time;
      inTime.sequence.behind = 0;
      result.late = std::max(result.late, ahead(inTime) * every);
      builder.setInsertionPoint(end);
      result.replaced[value] = positions(value, behind, perInference(time.sequence));
    }
  }
}

std::optional<StreamedInput> parseInput(llvm::StringRef text) {
  const auto [name, place] = text.rsplit('=');
  const auto [axis, steps] = place.split(':');
  StreamedInput input;
  input.name = name.str();
  if (name.empty() || axis.getAsInteger(10, input.axis) ||
      (place.contains(':') && steps.getAsInteger(10, input.steps)))
    return std::nullopt;
  return input;
}

Result stream(FunctionOpInterface function, const Options &options) {
  return Steps(function, options).run();
}

} // namespace sluice::streaming
