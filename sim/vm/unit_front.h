// The front end of a unit: the instruction queue, the active instruction with its loops, and the
// tokens on which the unit waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "runtime/device/device.h"
#include "sim/vm/activity_counter.h"
#include "sim/vm/decode.h"
#include "sim/vm/ring.h"
#include "sim/vm/tokens.h"

namespace sluice::vm {

inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();
using Block = device::UnitStatus::Block;
/// The first cycle in which a unit can have an instruction.
inline constexpr Cycle kFirstBeat = 2;

/// The front end of a unit that executes instructions of type `Inst` (decode.h). The simulator
/// skips a unit until its wake cycle. Code that removes a cause of blocking must call wakeAt.
template <class Inst> class UnitFront {
public:
  explicit UnitFront(Cycle now) : wake(now), activity(Activity::Idle) {}

  // Functions for the sequencer and for givers of tokens.
  bool full() const { return queue.size() >= isa::kUnitQueueDepth; }
  void push(const Inst &inst, const Addresses &base, Cycle now) {
    queue.push({&inst, base, now + 1});
    wakeAt(now + 1);
  }

  void give(unsigned token, Cycle now) {
    bank.give(token);
    wakeAt(now + 1);
  }
  void wakeAt(Cycle cycle) { wake = std::min(wake, cycle); }

  // Functions for the unit.
  Cycle wakeCycle() const { return wake; }
  /// Notes that the unit cannot issue its beat in cycle `now`, and skips it until cycle `until`.
  void sleep(Block reason, Cycle now, Cycle until = kNever) {
    activity.enter(static_cast<Activity>(reason), now);
    wake = until;
  }
  const Inst *active() const { return current; }
  const LoopNest &beat() const { return nest; }
  const TokenBank &tokens() const { return bank; }
  const ActivityCounter &counter() const { return activity; }
  bool firstBeat() const { return nest.firstAt(0); }
  bool waitSatisfied() const { return !waitsHere() || bank.count(token) >= current->waitCount; }
  bool signalsHere() const { return current->signals && nest.lastAt(current->sigLevel); }

  /// Removes the next instruction from the queue and makes it active. If none is visible, the unit
  /// becomes idle.
  void refill(Cycle now) {
    if (!queue.empty() && queue.front().from <= now) {
      const Entry &entry = queue.front();
      current = entry.inst;
      token = current->waitToken;
      nest.start(current->nest, entry.base);
      queue.pop();
      wake = now + 1;
    } else {
      current = nullptr;
      wake = queue.empty() ? kNever : queue.front().from;
      activity.enter(Activity::Idle, now + 1);
    }
  }

  /// Issues the current beat: subtracts its tokens. Call `next` after the beat.
  void take(Cycle now) {
    activity.enter(Activity::Busy, now);
    if (!waitsHere())
      return;
    bank.take(token, current->waitCount);
    token = (token + current->waitStep) % isa::kTokens;
  }

  /// Advances to the next beat or the next instruction.
  void next(Cycle now) {
    if (nest.lastBeat()) {
      refill(now);
    } else {
      nest.advance();
      wake = now + 1;
    }
  }

  device::UnitStatus status(const char *unit, uint32_t core, Block block) const {
    device::UnitStatus out{.unit = unit, .core = core, .block = block};
    if (current)
      out.instruction = current->index;
    if (current && block == Block::Token) {
      out.token = token;
      out.have = bank.count(token);
      out.need = current->waitCount;
    }
    return out;
  }

private:
  struct Entry {
    const Inst *inst = nullptr;
    Addresses base{};
    Cycle from = 0; ///< first cycle in which the entry is visible
  };

  bool waitsHere() const { return current->waits && nest.firstAt(current->waitLevel); }

  Ring<Entry> queue{8};
  const Inst *current = nullptr;
  LoopNest nest;
  unsigned token = 0; ///< token of the next wait
  TokenBank bank;
  Cycle wake;
  ActivityCounter activity;
};

} // namespace sluice::vm
