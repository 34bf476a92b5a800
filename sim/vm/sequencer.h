// Fetches instructions, runs the hardware loops and hands unit instructions to
// the queues.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/vm/control_flow.h"
#include "sim/vm/unit_front.h"

namespace sluice::vm {

class Sequencer {
public:
  /// Cycle 0 is the one after the start; the instruction at `entry` executes in cycle 1.
  explicit Sequencer(const Code &code, uint32_t entry = 0)
      : code(&code), flow(entry), activity(Activity::Busy) {}

  Cycle wakeCycle() const { return wake; }
  /// A queue that was full is no longer, from the next cycle on.
  void queueFreed(Cycle now) {
    if (stalled)
      wake = now + 1;
  }

  /// Executes the next instruction. `push(step)` hands a unit instruction
  /// over and returns false if the unit's queue is full; the sequencer then
  /// sleeps until queueFreed.
  template <class Push> void tick(Cycle now, Push &&push) {
    const Step *step = fetched();
    const bool waited = stalled;
    stalled = step && isUnit(step->op) && !push(*step);
    if (!step || stalled) {
      activity.enter(stalled ? Activity::WaitsQueue : Activity::Idle, now);
      wake = kNever;
      return;
    }
    if (waited)
      activity.enter(Activity::Busy, now);
    execute(*step);
    wake = now + flow.cyclesToNext();
    if (flow.isHalted())
      activity.enter(Activity::Idle, now + 1);
  }

  /// Bases of a unit instruction with the address registers added.
  Addresses resolve(const UnitInstruction &inst) const {
    Addresses out = inst.base;
    for (unsigned s = 0; s < kStreams; ++s)
      out[s] += registers[inst.reg[s]];
    return out;
  }

  const ActivityCounter &counter() const { return activity; }

private:
  static bool isUnit(isa::Opcode op) { return op >= isa::Opcode::Mm; }
  const Step *fetched() const {
    return flow.ended(code->steps.size()) ? nullptr : &code->steps[flow.at()];
  }
  void execute(const Step &step);

  const Code *code;
  ControlFlow flow;
  bool stalled = false; ///< on a full queue
  std::array<uint32_t, isa::kSeqRegs> registers{};
  Cycle wake = isa::kSeqJumpCycles - 1;
  ActivityCounter activity;
};

} // namespace sluice::vm
