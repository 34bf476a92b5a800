#include "sim/vm/core.h"

#include <algorithm>

namespace sluice::vm {

Core::Core(const format::Geometry &geometry, const format::CoreImage &image)
    : code(decodeCode(image.instructions, geometry.latencies())), sequencer(code),
      matrix(geometry, image), vector(geometry, image), ram(geometry, image.rows) {
  upcoming = findNextEvent();
}

void Core::restart(uint32_t entry) {
  sequencer = Sequencer(code, entry);
  matrix.restart();
  vector.restart();
  upcoming = findNextEvent();
  touched = false;
}

bool Core::push(const Step &step, Cycle now) {
  const auto hand = [&](auto &front, const auto &inst) {
    if (front.full())
      return false;
    front.push(inst, sequencer.resolve(inst), now);
    return true;
  };
  if (step.op == isa::Opcode::Mm)
    return hand(matrix.front, code.matrix[step.unit]);
  if (step.op == isa::Opcode::Vec)
    return hand(vector.front, code.vector[step.unit]);
  return true; // not an instruction of a core
}

bool Core::decide(Cycle now) {
  // In this order, so that nothing sees what another does in the same cycle:
  // the sequencer looks at the queues the units take from, the matrix unit at
  // the results the vector unit takes. What they add carries its cycle.
  if (sequencer.wakeCycle() <= now)
    sequencer.tick(now, [&](const Step &step) { return push(step, now); });
  bool issued = false;
  if (matrix.front.wakeCycle() <= now) {
    const bool wasFull = matrix.front.full(), hadResults = matrix.resultReady() != kNever;
    issued = matrix.tick(ram, now);
    if (wasFull && !matrix.front.full())
      sequencer.queueFreed(now);
    if (!hadResults)
      vector.front.wakeAt(matrix.resultReady());
  }
  if (vector.front.wakeCycle() <= now) {
    const bool wasFull = vector.front.full();
    issued |= vector.tick(ram, matrix, now);
    if (wasFull && !vector.front.full())
      sequencer.queueFreed(now);
  }
  return issued;
}

void Core::settle(Cycle now) {
  if (upcoming > now && !touched)
    return;
  while (!matrix.signals.empty() && matrix.signals.front().due <= now) {
    give(matrix.signals.front().units, matrix.signals.front().token, now);
    matrix.signals.pop();
  }
  vector.retire(ram, matrix, now, [&](uint8_t units, uint8_t token) { give(units, token, now); });
  upcoming = findNextEvent();
  touched = false;
}

void Core::receive(const Packet &packet, Cycle now) {
  touched = true;
  if (packet.hasRow)
    std::ranges::copy(packet.row, ram.row(packet.address & isa::kMostA).begin());
  if (packet.signals)
    give(packet.units, packet.token, now);
}

void Core::give(uint8_t units, uint8_t token, Cycle now) {
  if (units & 1)
    matrix.front.give(token, now);
  if (units & 2)
    vector.front.give(token, now);
}

Cycle Core::findNextEvent() const {
  Cycle next = std::min({sequencer.wakeCycle(), matrix.front.wakeCycle(), vector.front.wakeCycle(),
                         vector.nextWrite()});
  if (!matrix.signals.empty())
    next = std::min(next, matrix.signals.front().due);
  return next;
}

void Core::addStatus(uint32_t core, Cycle now, std::vector<device::UnitStatus> &to) const {
  to.push_back(matrix.front.status("matrix", core, matrix.block()));
  to.push_back(vector.front.status("vector", core, vector.block(matrix, now)));
}

void Core::addCounters(uint32_t core, Cycle now, std::vector<device::UnitCounters> &to) const {
  using Unit = device::UnitCounters::Unit;
  to.push_back({Unit::Matrix, core, matrix.front.counter().read(now)});
  to.push_back({Unit::Vector, core, vector.front.counter().read(now)});
  to.push_back({Unit::Sequencer, core, sequencer.counter().read(now)});
}

} // namespace sluice::vm
