// What every unit of the timing-only machine has: its instruction queue, the
// instruction it is at, and its tokens.
#pragma once

#include <algorithm>
#include <array>

#include "hw/isa/isa.h"
#include "runtime/device/device.h"
#include "sim/vm/activity_counter.h"
#include "sim/vm/timed/code.h"
#include "sim/vm/watch.h"

namespace sluice::vm::timed {

inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();
using Block = device::UnitStatus::Block;

/// Goes through the groups of a unit's instructions. A unit does this ahead of the
/// machine's clock: it goes on for as long as nothing that others have yet to do can
/// hold it up. What has room or tokens for a beat now has them in every cycle after,
/// since only the unit itself takes them.
class Front {
public:
  /// First cycle in which the next beat may issue by what is known; without an
  /// instruction, in which the next one may be taken from the queue.
  Cycle at = 0;
  /// What keeps the unit from going on; None: it has not been asked, or has reached
  /// the limit it was given.
  Block block = Block::Idle;

  // The sequencer's side.
  bool full() const { return pushed - popped == isa::kUnitQueueDepth; }
  /// First cycle in which there is room for the next instruction; not if full.
  Cycle roomFrom() const { return freeFrom[pushed % isa::kUnitQueueDepth]; }
  void push(const Instruction &inst, Cycle now) {
    queue[pushed++ % isa::kUnitQueueDepth] = {&inst, now + 1};
  }

  /// A token is given at the end of cycle `now`. Whether that lets the unit go on.
  bool give(unsigned token, Cycle now) {
    ++bank[token];
    if (block != Block::Token || token != waitToken || bank[token] < current->waitCount)
      return false;
    at = std::max(at, now + 1);
    return true;
  }

  // The unit's side.
  const Instruction *instruction() const { return current; }

  /// Takes the next instruction from the queue if there is none. `popped()` is called
  /// when the queue has more room. False: the queue is empty.
  template <class Popped> bool load(Popped &&hasRoom) {
    if (current)
      return true;
    if (pushed == popped) {
      block = Block::Idle;
      return false;
    }
    const size_t slot = popped++ % isa::kUnitQueueDepth;
    current = queue[slot].inst;
    at = std::max(at, queue[slot].from) + 1;
    freeFrom[slot] = at;
    groupsLeft = current->groups;
    untilWait = current->waitEvery == kNone ? kNone : 0;
    untilSignal = current->signalEvery - 1;
    untilOut = current->outEvery - 1;
    waitToken = current->waitToken;
    waited = false;
    hasRoom();
    return true;
  }

  /// The wait before the group, once; false: there are not enough tokens.
  bool wait() {
    if (waited || untilWait != 0)
      return true;
    if (bank[waitToken] < current->waitCount) {
      block = Block::Token;
      return false;
    }
    bank[waitToken] -= current->waitCount;
    waitToken = (waitToken + current->waitStep) % isa::kTokens;
    waited = true;
    return true;
  }

  /// The last beat of the group, if the first one issues in `at`.
  Cycle lastBeat() const { return at + current->beats - 1; }
  /// The last beat makes a result or a packet, or gives a token.
  bool sendsHere() const { return untilOut == 0; }
  bool signalsHere() const { return untilSignal == 0; }

  /// The group is done, its last beat issued in cycle `last`.
  void next(Cycle last) {
    waited = false;
    if (--groupsLeft == 0) {
      current = nullptr;
      at = last;
      return;
    }
    at = last + 1;
    const auto count = [](uint64_t &until, uint64_t every) {
      until = until == 0 ? every - 1 : until - 1;
    };
    count(untilWait, current->waitEvery);
    count(untilSignal, current->signalEvery);
    count(untilOut, current->outEvery);
  }

  device::UnitStatus status(const char *unit, uint32_t core) const {
    device::UnitStatus out{.unit = unit, .core = core, .block = block};
    if (current)
      out.instruction = current->index;
    if (current && block == Block::Token) {
      out.token = waitToken;
      out.have = bank[waitToken];
      out.need = current->waitCount;
    }
    return out;
  }

  /// Tells of the beats of a group, of which the last may have been held up.
  void tell(Watch &watch, Watch::Unit unit, uint32_t core, Cycle last) const {
    if (lastBeat() == last) {
      watch.issued(unit, core, at, current->beats);
      return;
    }
    if (current->beats > 1)
      watch.issued(unit, core, at, current->beats - 1);
    watch.issued(unit, core, last, 1);
  }

private:
  struct Entry {
    const Instruction *inst = nullptr;
    Cycle from = 0; ///< first cycle in which the queue shows it
  };

  const Instruction *current = nullptr;
  uint64_t groupsLeft = 0;
  uint64_t untilWait = 0, untilSignal = 0, untilOut = 0; ///< groups before the next one
  unsigned waitToken = 0;
  bool waited = false; ///< before this group
  uint32_t pushed = 0, popped = 0;
  std::array<Entry, isa::kUnitQueueDepth> queue{};
  std::array<Cycle, isa::kUnitQueueDepth> freeFrom{}; ///< by place in the queue
  std::array<uint32_t, isa::kTokens> bank{};
};

} // namespace sluice::vm::timed
