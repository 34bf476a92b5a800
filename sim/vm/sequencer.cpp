#include "sim/vm/sequencer.h"

namespace sluice::vm {

void Sequencer::execute(const Step &step) {
  flow.next();
  switch (step.op) {
  case isa::Opcode::Restart:
    flow.restart();
    break;
  case isa::Opcode::Halt:
    flow.halt();
    break;
  case isa::Opcode::Loop:
    flow.loop(step.count);
    break;
  case isa::Opcode::Endloop:
    flow.endLoop();
    break;
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
