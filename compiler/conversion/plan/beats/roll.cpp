#include "compiler/conversion/plan/beats/roll.h"

#include <algorithm>
#include <array>
#include <optional>

namespace sluice::plan {
namespace {

/// Innermost trip counts tried at every place, longest first.
constexpr uint32_t kInnerCandidates = 48;

using Address = std::array<int32_t, 4>;

struct Loop {
  uint32_t trips = 1;
  Address stride{};
};

/// Loops that cover `size` beats, innermost first. A period p says that every
/// p-th beat of the nest has the property: the first of p for init and wait,
/// the last of p for last and signal; 0 says no beat has it.
struct Nest {
  uint32_t size = 1;
  std::array<Loop, isa::kLoopDepth> loops;
  uint32_t depth = 0; ///< of loops
  uint32_t initPeriod = 0, waitPeriod = 0, lastPeriod = 0, signalPeriod = 0;
  isa::Init init = isa::Init::Keep;
  Wait wait; ///< of the first wait
  std::optional<uint32_t> waitStep;
  uint32_t waits = 0;
  Signal signal;
};

class Roller {
public:
  Roller(const std::vector<Beat> &all, unsigned depth) : beats(all), depth(depth) {}

  /// The nest at `start` that covers most beats. With `closed` it must end on a
  /// "last" beat; nothing if none does.
  std::optional<Nest> best(uint32_t start, bool closed) const {
    const Nest unit = single(start);
    std::optional<Nest> winner;
    const std::optional<Nest> longest = extend(start, unit, isa::kMostN);
    const uint32_t most = longest ? longest->loops[0].trips : 1;
    const uint32_t least = most > kInnerCandidates ? most - kInnerCandidates : 1;
    for (uint32_t trips = most; trips >= least; --trips) {
      std::optional<Nest> nest = trips > 1 ? extend(start, unit, trips) : std::optional(unit);
      while (nest && nest->depth < depth) {
        std::optional<Nest> wider = extend(start, *nest, isa::kMostN);
        if (!wider)
          break;
        nest = std::move(wider);
      }
      if (!nest || (closed && nest->lastPeriod == 0))
        continue;
      if (!winner || nest->size > winner->size ||
          (nest->size == winner->size && nest->depth < winner->depth))
        winner = std::move(nest);
      // With fewer trips inside, only a nest of more loops covers all as well.
      if (start + winner->size == beats.size() && winner->depth <= 2)
        break;
    }
    return winner;
  }

private:
  const std::vector<Beat> &beats;
  const unsigned depth;

  Nest single(uint32_t start) const {
    const Beat &beat = beats[start];
    Nest nest;
    nest.init = beat.init;
    nest.initPeriod = beat.init != isa::Init::Keep;
    nest.wait = beat.wait;
    nest.waitPeriod = nest.waits = beat.wait.count != 0;
    nest.lastPeriod = beat.last;
    nest.signal = beat.signal;
    nest.signalPeriod = beat.signal.on;
    return nest;
  }

  /// How a copy of the nest at `at` has a "first of" property: as the nest
  /// has it, not at all, or otherwise.
  enum class Copy { Same, None, FinalOnly, Other };

  template <typename Has> Copy copyOf(uint32_t at, uint32_t size, uint32_t period, Has has) const {
    bool same = true, none = true;
    for (uint32_t i = 0; i < size; ++i) {
      const bool expected = period != 0 && has.expectedAt(i, period);
      const bool found = has(beats[at + i]);
      same &= found == expected;
      none &= !found || (period == 0 && i + 1 == size);
    }
    if (same)
      return Copy::Same;
    if (!none)
      return Copy::Other;
    return period == 0 ? Copy::FinalOnly : Copy::None;
  }

  template <typename Get> struct FirstOf {
    Get get;
    bool operator()(const Beat &beat) const { return get(beat); }
    bool expectedAt(uint32_t i, uint32_t period) const { return i % period == 0; }
  };
  template <typename Get> struct LastOf {
    Get get;
    bool operator()(const Beat &beat) const { return get(beat); }
    bool expectedAt(uint32_t i, uint32_t period) const { return i % period == period - 1; }
  };

  /// Whether the waits of the copy at `at` continue the nest's arithmetic
  /// sequence of tokens. If so, the nest has them.
  bool takesWaits(uint32_t at, uint32_t size, Nest &nest) const {
    std::optional<uint32_t> step = nest.waitStep;
    uint32_t waits = nest.waits;
    for (uint32_t i = 0; i < size; ++i) {
      const Wait &wait = beats[at + i].wait;
      if (wait.count == 0)
        continue;
      if (wait.count != nest.wait.count)
        return false;
      const uint32_t offset = (wait.token - nest.wait.token) % isa::kTokens;
      if (!step)
        step = offset;
      if (offset != *step * waits % isa::kTokens)
        return false;
      ++waits;
    }
    nest.waitStep = step;
    nest.waits = waits;
    return true;
  }

  /// Repeats the nest at `start` as one more loop of at most `limit` trips;
  /// nothing if it does not repeat.
  std::optional<Nest> extend(uint32_t start, const Nest &inner, uint32_t limit) const {
    const uint32_t size = inner.size;
    if (start + 2 * size > beats.size())
      return std::nullopt;
    Loop loop;
    for (unsigned s = 0; s < 4; ++s)
      loop.stride[s] = beats[start + size].address[s] - beats[start].address[s];
    Nest nest = inner;
    std::optional<Copy> initMode, waitMode;
    const FirstOf isInit{[](const Beat &b) { return b.init != isa::Init::Keep; }};
    const FirstOf isWait{[](const Beat &b) { return b.wait.count != 0; }};
    const LastOf isLast{[](const Beat &b) { return b.last; }};
    const LastOf isSignal{[](const Beat &b) { return b.signal.on; }};
    bool lastOnce = false, signalOnce = false, done = false;
    while (!done && loop.trips < limit && start + (loop.trips + 1) * size <= beats.size()) {
      const uint32_t at = start + loop.trips * size;
      if (!sameShape(start, at, size, loop))
        break;
      const Copy init = copyOf(at, size, inner.initPeriod, isInit);
      const Copy wait = copyOf(at, size, inner.waitPeriod, isWait);
      if (!firstOfFits(init, inner.initPeriod, size, initMode) ||
          !firstOfFits(wait, inner.waitPeriod, size, waitMode))
        break;
      const Copy last = copyOf(at, size, inner.lastPeriod, isLast);
      const Copy signal = copyOf(at, size, inner.signalPeriod, isSignal);
      if ((last != Copy::Same && last != Copy::FinalOnly) ||
          (signal != Copy::Same && signal != Copy::FinalOnly))
        break;
      if (!sameValues(at, size, inner))
        break;
      if (!takesWaits(at, size, nest))
        break;
      if (signal == Copy::FinalOnly)
        nest.signal = beats[at + size - 1].signal;
      initMode = init;
      waitMode = wait;
      lastOnce = last == Copy::FinalOnly;
      signalOnce = signal == Copy::FinalOnly;
      done = lastOnce || signalOnce;
      ++loop.trips;
    }
    if (loop.trips < 2)
      return std::nullopt;
    nest.size = size * loop.trips;
    if (initMode == Copy::None)
      nest.initPeriod = nest.size;
    if (waitMode == Copy::None)
      nest.waitPeriod = nest.size;
    if (lastOnce)
      nest.lastPeriod = nest.size;
    if (signalOnce)
      nest.signalPeriod = nest.size;
    nest.loops[nest.depth++] = loop;
    return nest;
  }

  /// A "first of" property must repeat in every copy, or be in the first copy
  /// alone and there on its first beat.
  static bool firstOfFits(Copy copy, uint32_t period, uint32_t size, std::optional<Copy> mode) {
    if (mode && *mode != copy)
      return false;
    return copy == Copy::Same || (copy == Copy::None && period == size);
  }

  bool sameShape(uint32_t start, uint32_t at, uint32_t size, const Loop &loop) const {
    for (uint32_t i = 0; i < size; ++i) {
      if (beats[at + i].form != beats[start].form)
        return false;
      for (unsigned s = 0; s < 4; ++s)
        if (beats[at + i].address[s] !=
            beats[start + i].address[s] + loop.stride[s] * static_cast<int32_t>(loop.trips))
          return false;
    }
    return true;
  }

  bool sameValues(uint32_t at, uint32_t size, const Nest &nest) const {
    for (uint32_t i = 0; i < size; ++i) {
      const Beat &beat = beats[at + i];
      if (beat.init != isa::Init::Keep && beat.init != nest.init)
        return false;
      if (beat.signal.on && nest.signalPeriod != 0 && beat.signal != nest.signal)
        return false;
    }
    return true;
  }
};

/// The level whose beats are every `period`-th of the nest.
uint32_t levelOf(const Nest &nest, uint32_t period) {
  uint32_t product = 1, level = isa::kLoopDepth;
  for (uint32_t i = 0; i < nest.depth && product != period; ++i) {
    product *= nest.loops[i].trips;
    --level;
  }
  return level;
}

/// A stride in the two's complement of its field; address sums wrap there.
int32_t wrapped(int32_t stride, unsigned bits) {
  const int32_t span = int32_t{1} << bits, value = stride & (span - 1);
  return value >= span / 2 ? value - span : value;
}

template <size_t N>
void setStream(const Nest &nest, const Beat &first, unsigned stream, unsigned bits, uint32_t &base,
               std::array<int32_t, N> &stride) {
  base = static_cast<uint32_t>(first.address[stream]);
  for (uint32_t i = 0; i < nest.depth; ++i)
    stride[isa::kLoopDepth - 1 - i] = wrapped(nest.loops[i].stride[stream], bits);
}

template <typename Unit> void setCommon(const Nest &nest, Unit &unit) {
  for (uint32_t i = 0; i < nest.depth; ++i)
    unit.n[isa::kLoopDepth - 1 - i] = nest.loops[i].trips;
  if (nest.waitPeriod != 0) {
    unit.waitEn = 1;
    unit.waitToken = nest.wait.token;
    unit.waitStep = wrapped(static_cast<int32_t>(nest.waitStep.value_or(0)), 5);
    unit.waitCount = nest.wait.count;
    unit.waitLevel = levelOf(nest, nest.waitPeriod);
  }
  if (nest.signalPeriod != 0) {
    unit.sigEn = 1;
    unit.sigToken = nest.signal.token;
    unit.sigUnits = nest.signal.units;
    unit.sigLevel = levelOf(nest, nest.signalPeriod);
  }
}

isa::Instruction encodeNest(const Nest &nest, const Beat &first, isa::Instruction form) {
  if (auto *mm = std::get_if<isa::Mm>(&form)) {
    setCommon(nest, *mm);
    setStream(nest, first, 0, 16, mm->x, mm->xStride);
    setStream(nest, first, 1, 16, mm->w, mm->wStride);
    setStream(nest, first, 2, 8, mm->acc, mm->accStride);
    setStream(nest, first, 3, 12, mm->p, mm->pStride);
    mm->init = nest.initPeriod != 0 ? nest.init : isa::Init::Keep;
    mm->initLevel = nest.initPeriod != 0 ? levelOf(nest, nest.initPeriod) : 0;
    if (nest.lastPeriod == 0)
      mm->emit = isa::Emit::None;
    mm->emitLevel = nest.lastPeriod != 0 ? levelOf(nest, nest.lastPeriod) : 0;
  } else if (auto *vec = std::get_if<isa::Vec>(&form)) {
    setCommon(nest, *vec);
    setStream(nest, first, 0, 16, vec->a, vec->aStride);
    setStream(nest, first, 1, 16, vec->b, vec->bStride);
    setStream(nest, first, 2, 16, vec->c, vec->cStride);
    setStream(nest, first, 3, 18, vec->dst, vec->dstStride);
    if (vec->reduce != isa::Reduce::None)
      vec->reduceLevel = levelOf(nest, nest.lastPeriod);
  } else if (auto *input = std::get_if<isa::Input>(&form)) {
    setCommon(nest, *input);
    setStream(nest, first, 0, 18, input->dst, input->dstStride);
  }
  return form;
}

} // namespace

namespace {

/// Position of one beat in a nest.
struct Trip {
  std::array<uint32_t, isa::kLoopDepth> index{};

  template <typename N> bool firstAt(uint32_t level, const N &) const {
    for (unsigned l = level; l < isa::kLoopDepth; ++l)
      if (index[l] != 0)
        return false;
    return true;
  }
  template <typename N> bool lastAt(uint32_t level, const N &n) const {
    for (unsigned l = level; l < isa::kLoopDepth; ++l)
      if (index[l] + 1 != n[l])
        return false;
    return true;
  }
  /// `ring` is log2 of the rows within which the address stays; 0: no ring.
  template <typename S>
  int32_t address(uint32_t base, const S &stride, unsigned bits, uint32_t ring = 0) const {
    int64_t sum = base;
    for (unsigned l = 0; l < isa::kLoopDepth; ++l)
      sum += int64_t{index[l]} * stride[l];
    const int64_t moving = (int64_t{1} << (ring != 0 ? ring : bits)) - 1;
    return static_cast<int32_t>((base & ~moving) | (sum & moving));
  }
  /// Advances the innermost loop; false after the last beat.
  template <typename N> bool next(const N &n) {
    for (unsigned l = isa::kLoopDepth; l-- > 0;) {
      if (++index[l] < n[l])
        return true;
      index[l] = 0;
    }
    return false;
  }
};

template <typename Unit, typename Fill>
std::vector<Beat> unrollUnit(const Unit &unit, uint32_t form, Fill fill) {
  std::vector<Beat> beats;
  uint32_t token = unit.waitToken;
  Trip trip;
  do {
    Beat beat;
    beat.form = form;
    fill(trip, beat);
    if (unit.waitEn != 0 && trip.firstAt(unit.waitLevel, unit.n)) {
      beat.wait = {token, unit.waitCount};
      token = (token + static_cast<uint32_t>(unit.waitStep)) % isa::kTokens;
    }
    if (unit.sigEn != 0 && trip.lastAt(unit.sigLevel, unit.n))
      beat.signal = {true, unit.sigToken, unit.sigUnits};
    beats.push_back(beat);
  } while (trip.next(unit.n));
  return beats;
}

} // namespace

std::optional<Rolled> rollFrom(const UnitBeats &unit, uint32_t at, unsigned depth) {
  const Beat &first = unit.beats[at];
  const isa::Instruction &form = unit.forms[first.form];
  const auto *vec = std::get_if<isa::Vec>(&form);
  const std::optional<Nest> nest =
      Roller(unit.beats, depth).best(at, vec && vec->reduce != isa::Reduce::None);
  if (!nest)
    return std::nullopt;
  return Rolled{encodeNest(*nest, first, form), at, nest->size};
}

std::optional<std::vector<Rolled>> roll(const UnitBeats &unit, unsigned depth) {
  std::vector<Rolled> result;
  for (uint32_t at = 0; at < unit.beats.size(); at += result.back().beats) {
    const std::optional<Rolled> one = rollFrom(unit, at, depth);
    if (!one)
      return std::nullopt;
    result.push_back(*one);
  }
  return result;
}

std::vector<Beat> unroll(const isa::Instruction &instruction, uint32_t form) {
  if (const auto *mm = std::get_if<isa::Mm>(&instruction))
    return unrollUnit(*mm, form, [&](const Trip &trip, Beat &beat) {
      beat.address = {trip.address(mm->x, mm->xStride, 16, mm->xRing),
                      trip.address(mm->w, mm->wStride, 16), trip.address(mm->acc, mm->accStride, 8),
                      trip.address(mm->p, mm->pStride, 12)};
      if (trip.firstAt(mm->initLevel, mm->n))
        beat.init = mm->init;
      beat.last = mm->emit != isa::Emit::None && trip.lastAt(mm->emitLevel, mm->n);
    });
  if (const auto *vec = std::get_if<isa::Vec>(&instruction))
    return unrollUnit(*vec, form, [&](const Trip &trip, Beat &beat) {
      beat.address = {trip.address(vec->a, vec->aStride, 16, vec->aRing),
                      trip.address(vec->b, vec->bStride, 16, vec->bRing),
                      trip.address(vec->c, vec->cStride, 16, vec->cRing),
                      trip.address(vec->dst, vec->dstStride, 18, vec->dstRing)};
      beat.last = vec->reduce != isa::Reduce::None && trip.lastAt(vec->reduceLevel, vec->n);
    });
  if (const auto *input = std::get_if<isa::Input>(&instruction))
    return unrollUnit(*input, form, [&](const Trip &trip, Beat &beat) {
      beat.address = {trip.address(input->dst, input->dstStride, 18, input->dstRing), 0, 0, 0};
    });
  return {};
}

} // namespace sluice::plan
