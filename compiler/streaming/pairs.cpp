// Attention: each position of a sequence with each of another. A mask that leaves every position
// those around it makes it a band, of which an inference has the rows of its own positions.
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "compiler/reference/monoid.h"
#include "compiler/streaming/known.h"
#include "compiler/streaming/steps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::streaming {
namespace {

using reference::Tensor;
using space::IndexSpace;
using space::LoopKind;
using space::Projection;

/// Values that scores and sums are taken to have when a mask is recognised. None is 0, by which a
/// softmax never divides.
constexpr std::array kSamples{-100.0, -0.5, 1.0, 100.0};
/// Values that anything may have.
constexpr std::array kAnything{-1e30, -0.5, 1.0, 1e30};

/// Most elements whose masks are looked at.
constexpr int64_t kMostPairs = int64_t{1} << 24;

constexpr const char *kOtherPairs =
    "it combines pairs of positions with something else than pairs of the same";
constexpr const char *kUnknownOutside =
    "what it makes of positions outside of the window is not known";
constexpr const char *kMaskWindow =
    "mask what is older than a window, by minus infinity in front of the softmax";

Tensor filled(llvm::ArrayRef<int64_t> shape, double value) {
  Tensor tensor(reference::Shape(shape.begin(), shape.end()));
  std::ranges::fill(tensor.values, value);
  return tensor;
}

/// What an operation gives for each of the samples: `operand` says what an operand is then.
std::vector<Tensor> evaluated(Operation *op, llvm::function_ref<Tensor(unsigned, double)> operand) {
  std::vector<Tensor> results;
  auto computed = llvm::dyn_cast<ir::ReferenceInterface>(op);
  if (!computed || op->getNumRegions() > 1)
    return results;
  for (const double sample : kSamples) {
    std::vector<Tensor> operands;
    for (const unsigned i : llvm::seq(0U, op->getNumOperands()))
      operands.push_back(operand(i, sample));
    const auto pointers = llvm::map_to_vector(operands, [](const Tensor &one) { return &one; });
    results.push_back(computed.evaluate(pointers).front());
  }
  return results;
}

/// Whether what follows merges pairs along an axis, and not along the other one: then its positions
/// are those that the other ones read.
bool isMergedAlong(Value value, unsigned axis, unsigned other) {
  for (OpOperand &use : value.getUses()) {
    auto user = llvm::dyn_cast<ir::IndexSpaceInterface>(use.getOwner());
    if (!user)
      continue;
    const IndexSpace space = user.indexSpace();
    const Projection &read = space.operands[use.getOperandNumber()];
    const auto along = read.loopAlong(axis), across = read.loopAlong(other);
    if (!along || !across)
      continue;
    if (space.loops[*along].kind == LoopKind::Reduced)
      return true;
    const auto next = axisAlong(space.results.front(), *along),
               nextOther = axisAlong(space.results.front(), *across);
    if (next && nextOther && isMergedAlong(user->getResult(0), *next, *nextOther))
      return true;
  }
  return false;
}

/// Whether a loop over others may leave out those that are `outside`.
bool mayLeaveOut(ir::IndexSpaceInterface op, const space::Loop &loop, double outside) {
  if (loop.kind != LoopKind::Reduced)
    return false;
  if (op->getNumOperands() > 1) // a sum of products
    return loop.monoid == reference::Monoid::Sum && outside == 0;
  const reference::MonoidDefinition &monoid = reference::definition(loop.monoid);
  return llvm::all_of(kAnything, [&](double sample) {
    const auto alone = monoid.wrap(sample, 0), behind = monoid.wrap(sample, 1);
    return monoid.unwrap(monoid.merge(alone, monoid.wrap(outside, 1))) == monoid.unwrap(alone) &&
           monoid.unwrap(monoid.merge(monoid.wrap(outside, 0), behind)) == monoid.unwrap(alone);
  });
}

} // namespace

void Steps::pair(ir::IndexSpaceInterface op, const IndexSpace &space, llvm::ArrayRef<Read> reads) {
  const auto no = [&](std::string why) {
    refuse(op->getLoc(), std::move(why));
    giveUp(*op);
  };
  const Read &one = reads.front(), &other = reads.back();
  const auto axis = axisAlong(space.results.front(), one.loop),
             others = axisAlong(space.results.front(), other.loop);
  const auto isPlain = [](const Read &read) {
    return read.stride == 1 && read.first == 0 && read.last == 0;
  };
  if (reads.size() != 2 || !axis || !others || !isPlain(one) || !isPlain(other) ||
      options.beyond != 0)
    return no("it combines each position of a sequence with each of another");
  if (!mayBePaired(op, one.timing) || !mayBePaired(op, other.timing))
    return giveUp(*op);
  if (one.timing.sequence.every != other.timing.sequence.every)
    return refuseRates(op, one.timing.sequence.every, other.timing.sequence.every);
  if (one.timing.length != other.timing.length)
    return no(fmt::format("it pairs {} positions with {}", one.timing.length, other.timing.length));
  const bool inOrder = *axis < *others;
  const Timing &first = inOrder ? one.timing : other.timing,
               &second = inOrder ? other.timing : one.timing;
  Timing time = first;
  time.kind = Timing::Pairs;
  time.sequence.axis = std::min(*axis, *others);
  time.others = std::max(*axis, *others);
  time.othersBehind = second.sequence.behind;
  if (second.reader && ahead(second) >= ahead(first))
    time.reader = second.reader;
  timings[op->getResult(0)] = time;
}

bool Steps::mayBePaired(ir::IndexSpaceInterface op, const Timing &time) {
  if (time.sequence.behind >= 0)
    return true;
  refuse(op->getLoc(), "it pairs positions of a sequence with a border in front");
  return false;
}

void Steps::refuseRates(ir::IndexSpaceInterface op, int64_t one, int64_t other) {
  refuse(op->getLoc(), fmt::format("its operands have a position for every {} and for every {}",
                                   counted(one, "step"), counted(other, "step")));
  giveUp(*op);
}

std::optional<Steps::Pairing> Steps::loopsOf(ir::IndexSpaceInterface op, const IndexSpace &space,
                                             const Timing &time) {
  std::optional<Pairing> loops;
  for (const auto &[value, projection] : llvm::zip_equal(op->getOperands(), space.operands)) {
    const Timing of = timing(value);
    if (of.kind == Timing::AsOfNow || (of.band && of.band != time.band))
      return std::nullopt;
    if (of.kind != Timing::Pairs)
      continue;
    const bool swapped = time.band && time.band->swapped;
    const auto along = projection.loopAlong(swapped ? of.others : of.sequence.axis),
               across = projection.loopAlong(swapped ? of.sequence.axis : of.others);
    if (!along || !across || (loops && (loops->along != *along || loops->across != *across)))
      return std::nullopt;
    loops = Pairing{*along, *across};
  }
  // All positions of the sequence, none cut off.
  if (loops && (space.loops[loops->along].extent != time.length ||
                space.loops[loops->across].extent != time.length))
    return std::nullopt;
  return loops;
}

int64_t Steps::behindOf(ir::IndexSpaceInterface op, const IndexSpace &space,
                        const Pairing &pairing) {
  int64_t behind = 0;
  for (const auto &[value, projection] : llvm::zip_equal(op->getOperands(), space.operands)) {
    const Timing of = timing(value);
    if (of.kind == Timing::Stream) {
      const bool isOther = projection.loopAlong(of.sequence.axis) == pairing.across;
      behind = std::max(behind, of.sequence.behind + (isOther ? pairing.band.newer : 0));
    } else if (of.kind == Timing::Pairs && of.band) {
      behind = std::max(behind, of.sequence.behind);
    } else if (of.kind == Timing::Pairs) {
      const bool swapped = pairing.band.swapped;
      behind = std::max({behind, swapped ? of.othersBehind : of.sequence.behind,
                         (swapped ? of.sequence.behind : of.othersBehind) + pairing.band.newer});
    }
  }
  return behind;
}

void Steps::pairs(ir::IndexSpaceInterface op) {
  const auto no = [&](std::string why, std::vector<Fix> fixes = {}) {
    refuse(op->getLoc(), std::move(why), std::move(fixes));
    giveUp(*op);
  };
  const IndexSpace space = op.indexSpace();
  Timing time;
  for (const Value operand : op->getOperands())
    if (const Timing of = timing(operand);
        of.kind == Timing::Pairs && (time.kind != Timing::Pairs || of.band))
      time = of;
  for (const Value operand : op->getOperands()) {
    const Timing of = timing(operand);
    if (of.kind != Timing::Pairs && of.kind != Timing::Stream)
      continue;
    if (of.sequence.every != time.sequence.every)
      return refuseRates(op, time.sequence.every, of.sequence.every);
    if (of.kind == Timing::Stream && !mayBePaired(op, of))
      return giveUp(*op);
  }
  const auto loops = loopsOf(op, space, time);
  const auto axis = loops ? axisAlong(space.results.front(), loops->along) : std::nullopt;
  if (!axis)
    return no(kOtherPairs);
  const auto other = axisAlong(space.results.front(), loops->across);
  Pairing pairing = *loops;
  if (!time.band) {
    if (!other || space.loops[pairing.across].kind != LoopKind::Parallel)
      return no(fmt::format("it takes all {} positions together for each: no mask leaves each "
                            "position those of a window",
                            time.length),
                {fix(kMaskWindow)});
    time.sequence.axis = *axis;
    time.others = *other;
    const size_t before = result.problems.size();
    time.band = maskOf(op, space, pairing);
    if (result.problems.size() != before)
      return giveUp(*op);
    if (!time.band) { // until a mask comes
      time.sequence.behind = 0;
      time.othersBehind = 0;
      for (const auto &[value, projection] : llvm::zip_equal(op->getOperands(), space.operands)) {
        const Timing of = timing(value);
        const bool isOther =
            of.kind == Timing::Stream && projection.loopAlong(of.sequence.axis) == pairing.across;
        int64_t &behind = isOther ? time.othersBehind : time.sequence.behind;
        behind = std::max(behind, of.sequence.behind);
        time.othersBehind = std::max(time.othersBehind, of.othersBehind);
      }
      timings[op->getResult(0)] = time;
      return;
    }
    pairing.masks = true;
    time.outside = time.band->outside;
    time.nearest = time.band->nearest;
    if (time.band->swapped)
      std::swap(pairing.along, pairing.across);
    if (time.band->newer > 0)
      time.reader = op->getLoc();
  } else if (!other) {
    if (!mayLeaveOut(op, space.loops[pairing.across], time.outside))
      return no(kUnknownOutside);
    time.sequence.axis = *axis;
  } else {
    if (!outsideOf(op, time))
      return no(kUnknownOutside);
    time.sequence.axis = time.band->swapped ? *other : *axis;
    time.others = time.band->swapped ? *axis : *other;
  }
  pairing.band = *time.band;
  pairing.behind = time.sequence.behind = behindOf(op, space, pairing);
  pairing.count = perInference(time.sequence);
  Operation *made = inBand(op, pairing);
  if (!made)
    return giveUp(*op);
  if (!other) {
    time.kind = Timing::Stream;
    time.band.reset();
  }
  set(op->getResult(0), made->getResult(0), std::move(time));
}

std::optional<Band> Steps::maskOf(ir::IndexSpaceInterface op, const IndexSpace &space,
                                  const Pairing &loops) {
  const auto isMask = [&](unsigned operand) {
    return timing(op->getOperand(operand)).kind == Timing::Fixed &&
           space.operands[operand].moves(loops.along) &&
           space.operands[operand].moves(loops.across);
  };
  if (llvm::none_of(llvm::seq(0U, op->getNumOperands()), isMask))
    return std::nullopt;
  if (const auto shape = ir::shapeOf(op->getResult(0));
      reference::elements({shape.begin(), shape.end()}) > kMostPairs) {
    refuse(op->getLoc(),
           fmt::format("its mask has more than {} elements, which are not looked at", kMostPairs),
           {fix("export fewer positions: the streamed network takes any number")});
    return std::nullopt;
  }
  std::map<unsigned, Tensor> constants;
  for (const unsigned i : llvm::seq(0U, op->getNumOperands())) {
    if (!isMask(i))
      continue;
    auto constant = known(op->getOperand(i));
    if (!constant) {
      refuse(op->getLoc(), "its mask is given with each inference, so no window is known",
             {fix("make the mask a constant (--bind NAME=@FILE.npy)")});
      return std::nullopt;
    }
    constants.emplace(i, std::move(*constant));
  }
  const auto results = evaluated(op, [&](unsigned operand, double sample) {
    const auto constant = constants.find(operand);
    return constant != constants.end() ? constant->second
                                       : filled(ir::shapeOf(op->getOperand(operand)), sample);
  });
  if (results.empty())
    return std::nullopt;
  // What is masked does not depend on the samples.
  const std::vector<double> constant = sameInAll(results);
  const auto isMasked = [](double value) { return !std::isnan(value); };
  const auto outside = llvm::find_if(constant, isMasked);
  if (outside == constant.end())
    return std::nullopt;
  const auto along = axisAlong(space.results.front(), loops.along),
             across = axisAlong(space.results.front(), loops.across);
  const bool swapped = isMergedAlong(op->getResult(0), *along, *across);
  auto band = bandOf(constant, swapped ? ByPair(results.front().shape, *across, *along)
                                       : ByPair(results.front().shape, *along, *across));
  if (band) {
    band->swapped = swapped;
    band->outside = band->nearest = *outside;
    for (const Tensor &one : results)
      for (auto [is, value] : llvm::zip_equal(constant, one.values))
        if (is == kNothing)
          band->nearest = std::max(band->nearest, value);
  }
  if (!band)
    refuse(
        op->getLoc(),
        "its mask does not leave each position a window: the same number of positions before it, "
        "fewer than all",
        {fix(kMaskWindow)});
  return band;
}

bool Steps::outsideOf(ir::IndexSpaceInterface op, Timing &made) {
  const auto results = [&](double Timing::*outside) {
    return evaluated(op, [&](unsigned operand, double sample) {
      const Value value = op->getOperand(operand);
      const Timing time = timing(value);
      if (time.kind == Timing::Fixed)
        if (auto constant = known(value))
          return std::move(*constant);
      const bool isOutside = time.kind == Timing::Pairs && time.band;
      return filled(ir::shapeOf(value), isOutside ? time.*outside : sample);
    });
  };
  const auto farthest = results(&Timing::outside), nearest = results(&Timing::nearest);
  if (farthest.empty())
    return false;
  const std::vector<double> constant = sameInAll(farthest), near = sameInAll(nearest);
  made.outside = made.nearest = constant.front();
  if (std::isnan(made.outside))
    return false;
  // What is masked by a finite number has to stay as far away.
  if (llvm::any_of(constant, [&](double one) { return one != made.outside; }) ||
      llvm::any_of(near, [&](double one) { return one != made.outside; }))
    return false;
  if (made.outside == kNothing)
    for (const Tensor &one : nearest)
      made.nearest = std::max(made.nearest, *std::ranges::max_element(one.values));
  return true;
}

Operation *Steps::inBand(ir::IndexSpaceInterface op, const Pairing &pairing) {
  const IndexSpace space = op.indexSpace();
  llvm::SmallVector<Value> operands;
  for (const unsigned i : llvm::seq(0U, op->getNumOperands())) {
    operands.push_back(operandInBand(op, i, space.operands[i], pairing));
    if (!operands.back())
      return nullptr;
  }
  const Projection &projection = space.results.front();
  const auto own = axisAlong(projection, pairing.along),
             others = axisAlong(projection, pairing.across);
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
  const auto own = axisAlong(projection, pairing.along),
             others = axisAlong(projection, pairing.across);
  // Several rows of an inference are those of one stretch of others, and cannot be later by some.
  if (time.band && time.sequence.behind != pairing.behind && pairing.count > 1) {
    refuse(op->getLoc(),
           fmt::format("it combines pairs that are {} behind with what is {} behind, {} in each "
                       "inference",
                       counted(time.sequence.behind, "position"),
                       counted(pairing.behind, "position"), counted(pairing.count, "position")),
           {fix("take one position in each inference")});
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
  const auto constant = known(value);
  if (!constant) {
    refuse(where, "it has a value for each pair of positions that is given with each inference");
    return nullptr;
  }
  const ByPair whole(constant->shape, own, others);
  const int64_t older = pairing.band.older, newer = pairing.band.newer;
  if (!dependsOnDistance(*constant, whole)) {
    refuse(where, "it has values for pairs of positions that differ for pairs as far apart");
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
  const auto strides = reference::strides(constant->shape), partStrides = reference::strides(shape);
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
    return builder.create<ir::ConstantOp>(where, ir::toElements(tensor, builder.getContext()));
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
    read = select(builder, where, broadcast(begun, shape), read, made(outside));
  }
  return broadcast(read, result);
}

} // namespace sluice::streaming
