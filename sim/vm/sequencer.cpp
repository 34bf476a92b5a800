#include "sim/vm/sequencer.h"

namespace sluice::vm {

void Sequencer::execute(const Step &step) {
  ++pc;
  switch (step.op) {
  case isa::Opcode::Restart:
    pc = 0;
    break;
  case isa::Opcode::Halt:
    halted = true;
    break;
  case isa::Opcode::Loop:
    loops[depth++ % isa::kSeqLoops] = {pc, step.count};
    break;
  case isa::Opcode::Endloop: {
    Loop &loop = loops[(depth - 1) % isa::kSeqLoops];
    if (--loop.left > 0)
      pc = loop.body;
    else
      --depth;
    break;
  }
  case isa::Opcode::Setreg:
    if (step.reg != 0)
      registers[step.reg] = static_cast<uint32_t>(step.imm);
    break;
  case isa::Opcode::Addreg:
    if (step.reg != 0)
      registers[step.reg] += static_cast<uint32_t>(step.imm);
    break;
  case isa::Opcode::Mm:
  case isa::Opcode::Vec:
  case isa::Opcode::Input:
    break;
  }
}

} // namespace sluice::vm
