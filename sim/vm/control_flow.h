// Which instruction comes next: the program counter and the hardware loops.
#pragma once

#include <array>
#include <cstdint>

#include "hw/isa/isa.h"

namespace sluice::vm {

class ControlFlow {
public:
  /// `entry`: where the start and every restart begin.
  explicit ControlFlow(uint32_t entry = 0) : entry(entry), pc(entry) {}

  /// Of the instruction to execute, in a program of `size` of them; nothing after a halt.
  bool ended(size_t size) const { return halted || pc >= size; }
  uint32_t at() const { return pc; }
  bool isHalted() const { return halted; }

  // What an instruction does, after `next`.
  void next() { ++pc; }
  void restart() { pc = entry; }
  void halt() { halted = true; }
  void loop(uint32_t trips) { loops[depth++ % isa::kSeqLoops] = {pc, trips}; }
  void endLoop() {
    Loop &loop = loops[(depth - 1) % isa::kSeqLoops];
    if (--loop.left > 0)
      pc = loop.body;
    else
      --depth;
  }

private:
  struct Loop {
    uint32_t body = 0; ///< first instruction
    uint32_t left = 0; ///< trips, the present one included
  };

  uint32_t entry;
  uint32_t pc;
  bool halted = false;
  std::array<Loop, isa::kSeqLoops> loops{};
  unsigned depth = 0;
};

} // namespace sluice::vm
