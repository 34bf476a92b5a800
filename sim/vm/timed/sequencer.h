// The sequencer of the timing-only machine.
#pragma once

#include "sim/vm/timed/front.h"

namespace sluice::vm::timed {

/// Executes instructions ahead of the clock, until it stops, a queue is full or it
/// reaches a limit.
class Sequencer {
public:
  explicit Sequencer(const Code &code) : code(&code) {}

  /// `front(unit)` is where the instructions of a unit go; `pushed(unit)` is called
  /// for each.
  template <class FrontOf, class Pushed> void run(Cycle limit, FrontOf &&frontOf, Pushed &&pushed) {
    for (stalledOn = kNobody; !halted && pc < code->steps.size() && at < limit;) {
      const Step &step = code->steps[pc];
      if (step.op == Step::Op::Unit) {
        Front &front = frontOf(step.unit);
        if (front.full()) {
          stalledOn = step.unit;
          return;
        }
        at = std::max(at, front.roomFrom());
        front.push(code->units[step.value], at);
        pushed(step.unit);
      }
      execute(step);
      at += isa::kSeqCycles;
    }
  }

  /// The unit's queue was full, the last time it was tried.
  bool waitsFor(uint8_t unit) const { return stalledOn == unit; }
  /// Cycle of its next instruction; kNever if something else must happen first.
  Cycle next() const {
    return halted || pc >= code->steps.size() || stalledOn != kNobody ? kNever : at;
  }
  /// First cycle in which it may have something to do.
  Cycle freeFrom() const { return at; }

private:
  static constexpr uint8_t kNobody = 0xFF;
  struct Loop {
    uint32_t body = 0; ///< first instruction
    uint32_t left = 0; ///< trips, the present one included
  };

  void execute(const Step &step) {
    ++pc;
    switch (step.op) {
    case Step::Op::Restart:
      pc = 0;
      break;
    case Step::Op::Halt:
      halted = true;
      break;
    case Step::Op::Loop:
      loops[depth++ % isa::kSeqLoops] = {pc, step.value};
      break;
    case Step::Op::Endloop: {
      Loop &loop = loops[(depth - 1) % isa::kSeqLoops];
      if (--loop.left > 0)
        pc = loop.body;
      else
        --depth;
      break;
    }
    case Step::Op::Nothing:
    case Step::Op::Unit:
      break;
    }
  }

  const Code *code;
  uint32_t pc = 0;
  bool halted = false;
  uint8_t stalledOn = kNobody;
  std::array<Loop, isa::kSeqLoops> loops{};
  unsigned depth = 0;
  Cycle at = isa::kSeqCycles - 1; ///< cycle 0 is the fetch of instruction 0
};

} // namespace sluice::vm::timed
