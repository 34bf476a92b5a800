// The sequencer of the timing-only machine.
#pragma once

#include "sim/vm/control_flow.h"
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
    for (stalledOn = kNobody; !flow.ended(code->steps.size()) && at < limit;) {
      const Step &step = code->steps[flow.at()];
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
      at += flow.cyclesToNext();
    }
  }

  /// The unit's queue was full, the last time it was tried.
  bool waitsFor(uint8_t unit) const { return stalledOn == unit; }
  /// Cycle of its next instruction; kNever if something else must happen first.
  Cycle next() const {
    return flow.ended(code->steps.size()) || stalledOn != kNobody ? kNever : at;
  }
  /// First cycle in which it may have something to do.
  Cycle freeFrom() const { return at; }

private:
  static constexpr uint8_t kNobody = 0xFF;
  void execute(const Step &step) {
    flow.next();
    switch (step.op) {
    case Step::Op::Restart:
      flow.restart();
      break;
    case Step::Op::Halt:
      flow.halt();
      break;
    case Step::Op::Loop:
      flow.loop(step.value);
      break;
    case Step::Op::Endloop:
      flow.endLoop();
      break;
    case Step::Op::Nothing:
    case Step::Op::Unit:
      break;
    }
  }

  const Code *code;
  ControlFlow flow;
  uint8_t stalledOn = kNobody;
  Cycle at = isa::kSeqJumpCycles - 1; ///< cycle 0 is the one after the start
};

} // namespace sluice::vm::timed
