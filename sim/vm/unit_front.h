// What every unit has in front of its datapath: the instruction queue, the
// active instruction with its loops, and the tokens it waits for.
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
/// Before this cycle no unit can have an instruction.
inline constexpr Cycle kFirstBeat = 2;

/// `Inst` is one of the instruction types of decode.h. A unit is looked at in
/// the cycles from `wake` on; whoever changes something it may be blocked on
/// calls wakeAt.
template <class Inst> class UnitFront {
public:
  explicit UnitFront(Cycle now) : wake(now), activity(Activity::Idle) {}

  // The sequencer's side.
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

  // The unit's side.
  Cycle wakeCycle() const { return wake; }
  /// The unit has an instruction and cannot issue its beat in cycle `now`.
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

  /// Takes the head of the queue if the unit has no instruction.
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

  /// Issues the current beat: takes its tokens. Call `next` when done with it.
  void take(Cycle now) {
    activity.enter(Activity::Busy, now);
    if (!waitsHere())
      return;
    bank.take(token, current->waitCount);
    token = (token + current->waitStep) % isa::kTokens;
  }

  /// Goes on to the next beat or the next instruction.
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
    Cycle from = 0; ///< first cycle in which the queue shows it
  };

  bool waitsHere() const { return current->waits && nest.firstAt(current->waitLevel); }

  Ring<Entry> queue{8};
  const Inst *current = nullptr;
  LoopNest nest;
  unsigned token = 0; ///< of the next wait
  TokenBank bank;
  Cycle wake;
  ActivityCounter activity;
};

} // namespace sluice::vm
