// The program counter and the hardware loops of a sequencer.
#pragma once

#include <array>
#include <cstdint>

#include "hw/isa/isa.h"
#include "sim/vm/activity_counter.h"

namespace sluice::vm {

class ControlFlow {
public:
  /// `entry` is the index of the first instruction after a start or restart.
  explicit ControlFlow(uint32_t entry = 0) : entry(entry), pc(entry) {}

  /// Whether no instruction is left, in a program of `size` instructions.
  bool ended(size_t size) const { return halted || pc >= size; }
  /// The index of the next instruction.
  uint32_t at() const { return pc; }
  bool isHalted() const { return halted; }

  // The effects of instructions.
  /// Moves on to the next instruction. Call it before the others.
  void next() {
    ++pc;
    cycles = isa::kSeqCycles;
  }
  void restart() { jump(entry); }
  void halt() { halted = true; }
  void loop(uint32_t trips) { loops[depth++ % isa::kSeqLoops] = {pc, trips}; }
  void endLoop() {
    Loop &loop = loops[(depth - 1) % isa::kSeqLoops];
    if (--loop.left > 0)
      jump(loop.body);
    else
      --depth;
  }

  /// Returns the cycles from the last instruction to the next one.
  Cycle cyclesToNext() const { return cycles; }

private:
  struct Loop {
    uint32_t body = 0; ///< first instruction
    uint32_t left = 0; ///< iterations left, including the current one
  };

  void jump(uint32_t target) {
    pc = target;
    cycles = isa::kSeqJumpCycles;
  }

  uint32_t entry;
  uint32_t pc;
  Cycle cycles = isa::kSeqJumpCycles;
  bool halted = false;
  std::array<Loop, isa::kSeqLoops> loops{};
  unsigned depth = 0;
};

} // namespace sluice::vm
