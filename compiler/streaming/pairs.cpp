// Attention: each position of a sequence with each of another. A mask that leaves every position
// those around it makes it a band, of which an inference has the rows of its own positions.
#include <array>

#include <fmt/format.h>

#include "compiler/reference/monoid.h"
#include "compiler/streaming/steps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::streaming {
namespace {

using space::IndexSpace;
using space::LoopKind;

/// Values that anything may have.
constexpr std::array kAnything{-1e30, -0.5, 1.0, 1e30};

constexpr const char *kUnknownOutside = "the result for positions outside the window is unknown";

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
  const Read &one = reads.front(), &other = reads.back();
  const auto axis = space.results.front().axisAlong(one.loop),
             others = space.results.front().axisAlong(other.loop);
  const auto isPlain = [](const Read &read) {
    return read.stride == 1 && read.first == 0 && read.last == 0;
  };
  if (reads.size() != 2 || !axis || !others || !isPlain(one) || !isPlain(other) ||
      options.beyond != 0)
    return reject(
        op, "the operation combines every position of one sequence with every position of another");
  if (!mayBePaired(op, one.timing) || !mayBePaired(op, other.timing))
    return giveUp(*op);
  if (one.timing.sequence.every != other.timing.sequence.every)
    return refuseRates(op, one.timing.sequence.every, other.timing.sequence.every);
  if (one.timing.length != other.timing.length)
    return reject(
        op, fmt::format("the operation pairs sequences of different lengths, {} and {} positions",
                        one.timing.length, other.timing.length));
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
  refuse(op->getLoc(), "the operation pairs positions of a sequence that is padded at its start");
  return false;
}

void Steps::refuseRates(ir::IndexSpaceInterface op, int64_t one, int64_t other) {
  reject(op, fmt::format("the operands have different rates: a position every {} and every {}",
                         counted(one, "step"), counted(other, "step")));
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
  const auto axis = loops ? space.results.front().axisAlong(loops->along) : std::nullopt;
  if (!axis)
    return reject(op, kOtherPairs);
  const auto other = space.results.front().axisAlong(loops->across);
  Pairing pairing = *loops;
  if (!time.band) {
    if (!other || space.loops[pairing.across].kind != LoopKind::Parallel)
      return reject(
          op,
          fmt::format("each position reads all {} positions; a mask must limit it to a window",
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
      return reject(op, kUnknownOutside);
    time.sequence.axis = *axis;
  } else {
    if (!outsideOf(op, time))
      return reject(op, kUnknownOutside);
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

} // namespace sluice::streaming
