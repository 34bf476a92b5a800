#include "sim/vm/host_port.h"

#include <algorithm>

#include "runtime/format/geometry.h"

namespace sluice::vm {

HostPort::HostPort(const format::Geometry &geometry,
                   const std::vector<format::InstructionWords> &words)
    : lanes(geometry.lanes), code(decodeCode(words, geometry.latencies())), sequencer(code),
      front(kFirstBeat),
      inputRows(packetRowCount(isa::kHostInDepth, geometry.latencies()), geometry.lanes),
      outputRows(isa::kHostOutDepth + 1, geometry.lanes) {}

void HostPort::restart(uint32_t entry) {
  sequencer = Sequencer(code, entry);
  front = UnitFront<InputInstruction>(kFirstBeat);
  input = Ring<Packet>();
  output = Ring<OutputHead>();
  outstandingRows = 0;
}

Block HostPort::block(bool offered) const {
  const InputInstruction *inst = front.active();
  if (!inst)
    return Block::Idle;
  if (!front.waitSatisfied())
    return Block::Token;
  if (inst->skip)
    return Block::None;
  if (input.size() >= isa::kHostInDepth)
    return Block::OutboxFull;
  return offered ? Block::None : Block::HostInput;
}

HostPort::Issue HostPort::decide(Cycle now, const uint16_t *row) {
  if (sequencer.wakeCycle() <= now)
    sequencer.tick(now, [&](const Step &step) {
      if (step.op != isa::Opcode::Input)
        return true; // not an instruction of the host port
      if (front.full())
        return false;
      front.push(code.input[step.unit], sequencer.resolve(code.input[step.unit]), now);
      return true;
    });
  const Block reason = block(row != nullptr);
  const bool wasFull = front.full();
  Issue result;
  if (reason == Block::Idle) {
    front.refill(now);
  } else if (reason != Block::None) {
    front.sleep(reason, now);
  } else {
    const InputInstruction &inst = *front.active();
    front.take(now);
    result = {true, !inst.skip};
    if (!inst.skip) {
      const std::span<uint16_t> copy = inputRows.next();
      std::copy_n(row, lanes, copy.begin());
      input.push({.from = now + 1,
                  .address = front.beat().address(0) & 0x3FFFF,
                  .mask = inst.mask,
                  .hasRow = true,
                  .signals = front.signalsHere(),
                  .token = inst.sigToken,
                  .units = inst.sigUnits,
                  .row = copy});
    }
    front.next(now);
  }
  if (wasFull && !front.full())
    sequencer.queueFreed(now);
  return result;
}

void HostPort::receive(const Packet &packet, Cycle now) {
  if (packet.hasRow) {
    const std::span<uint16_t> copy = outputRows.next();
    std::ranges::copy(packet.row, copy.begin());
    output.push({now + 1, packet.address, copy});
  }
  if (packet.signals)
    front.give(packet.token, now);
}

} // namespace sluice::vm
