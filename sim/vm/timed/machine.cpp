#include "sim/vm/timed/machine.h"

#include <bit>

#include "runtime/format/program.h"

namespace sluice::vm::timed {

namespace {

/// How far units run ahead of what has been gone through.
constexpr Cycle kAhead = 4096;

// The host takes a row as soon as it is shown, so the network never waits for room
// in its output.
static_assert(isa::kHostOutDepth > isa::kMostNetHop + 1);

std::vector<Code> decodeAll(const format::Program &program) {
  static const std::vector<format::InstructionWords> none;
  std::vector<Code> codes;
  for (uint32_t core = 0; core < program.geometry.cores; ++core)
    codes.push_back(
        decodeCode(core < program.cores.size() ? program.cores[core].instructions : none,
                   program.geometry.latencies(), false));
  codes.push_back(decodeCode(program.hostInstructions, program.geometry.latencies(), true));
  return codes;
}

} // namespace

Machine::Machine(const format::Program &program, Offers &offers, Watch *watch)
    : hostSource(program.geometry.cores), hop(program.geometry.latencies().hop()), offers(offers),
      watch(watch), limit(kAhead), codes(decodeAll(program)), hostSequencer(codes.back()),
      last(hostSource), headFrom(hostSource + 1, kNever), tokenDue(hostSource, kNever) {
  cores.reserve(hostSource);
  for (uint32_t core = 0; core < hostSource; ++core)
    cores.emplace_back(program.geometry, codes[core], core, watch);
}

void Machine::run(Cycle until) {
  end = until;
  resume(0);
  while (!offers.complete()) {
    const Cycle next = nextEvent();
    if (next < limit) {
      if (next >= end)
        return;
      step(next);
    } else if (const Cycle first = std::min(next, parked()); first != kNever) {
      if (first >= end)
        return;
      resume(first);
    } else if (input.block == Block::HostInput && offers.rest(restFrom())) {
      runHost();
    } else {
      return;
    }
  }
}

void Machine::step(Cycle now) {
  latest = now;
  arbitrate(now);
  if (!outputs.empty() && outputs.front() == now) {
    outputs.pop();
    if (offers.deliverRow(now))
      runHost();
  }
  if (!flights.empty() && flights.front().due == now) {
    deliver(flights.front().packet, now);
    flights.pop();
  }
  if (nextToken == now)
    for (uint32_t core = 0; core < hostSource; ++core)
      if (tokenDue[core] == now) {
        cores[core].settle(now);
        runCore(core);
      }
}

void Machine::arbitrate(Cycle now) {
  uint32_t source = last;
  do
    source = source == hostSource ? 0 : source + 1;
  while (headFrom[source] > now && source != last);
  if (headFrom[source] > now)
    return;
  last = source;
  if (watch)
    watch->granted(source, now);
  Ring<Packet> &fifo = source == hostSource ? inputFifo : cores[source].outbox();
  flights.push({now + hop - 1, fifo.front()});
  fifo.pop();
  headFrom[source] = fifo.empty() ? kNever : fifo.front().from;
  if (source != hostSource) {
    if (cores[source].outboxGranted(now))
      runCore(source);
  } else if (input.block == Block::OutboxFull) {
    input.at = std::max(input.at, now + 1);
    runHost();
  }
}

void Machine::deliver(const Packet &packet, Cycle now) {
  if ((packet.mask >> isa::kHostBit & 1) != 0) {
    if (packet.hasRow)
      outputs.push(now + 1);
    if (packet.signals && input.give(packet.token, now))
      runHost();
  }
  if (!packet.signals)
    return;
  for (uint32_t to = packet.mask & ((1U << hostSource) - 1); to != 0; to &= to - 1) {
    const auto core = static_cast<uint32_t>(std::countr_zero(to));
    if (cores[core].give(packet.units, packet.token, now))
      runCore(core);
  }
}

void Machine::runCore(uint32_t core) {
  Core &one = cores[core];
  one.run(limit);
  headFrom[core] = one.outbox().empty() ? kNever : one.outbox().front().from;
  if (const Cycle due = one.nextToken(); due != tokenDue[core]) {
    tokenDue[core] = due;
    nextToken = *std::ranges::min_element(tokenDue);
  }
}

void Machine::runHost() {
  const auto sequence = [&] {
    hostSequencer.run(limit, [&](uint8_t) -> Front & { return input; }, [](uint8_t) {});
  };
  const auto hasRoom = [&] {
    if (hostSequencer.waitsFor(0))
      sequence();
  };
  sequence();
  while (input.load(hasRoom)) {
    input.block = Block::None;
    if (input.at >= limit || !input.wait())
      return;
    const Instruction &inst = *input.instruction();
    if (inst.hasRow) {
      if (inputFifo.size() == isa::kHostInDepth) {
        input.block = Block::OutboxFull;
        return;
      }
      const Cycle offered = offers.from();
      if (offered == kNever) {
        input.block = Block::HostInput;
        return;
      }
      input.at = std::max(input.at, offered);
      offers.takeRow(input.at);
      inputFifo.push({.from = input.at + 1,
                      .mask = inst.mask,
                      .hasRow = true,
                      .signals = input.signalsHere(),
                      .token = inst.sigToken,
                      .units = inst.sigUnits});
      headFrom[hostSource] = inputFifo.front().from;
    }
    const Cycle issued = input.lastBeat();
    if (watch)
      input.tell(*watch, Watch::Unit::Host, hostSource, issued);
    input.next(issued);
  }
}

Cycle Machine::nextEvent() const {
  Cycle next = std::min(nextToken, *std::ranges::min_element(headFrom));
  next = std::max(next, latest + 1); // a head that another was preferred to
  if (!flights.empty())
    next = std::min(next, flights.front().due);
  if (!outputs.empty())
    next = std::min(next, outputs.front());
  return next;
}

Cycle Machine::parked() const {
  Cycle first = hostSequencer.next();
  if (input.instruction() && input.block == Block::None)
    first = std::min(first, input.at);
  for (const Core &core : cores)
    first = std::min(first, core.parked());
  return first;
}

void Machine::resume(Cycle from) {
  limit = from + kAhead;
  for (uint32_t core = 0; core < hostSource; ++core) {
    cores[core].resume();
    runCore(core);
  }
  runHost();
}

Cycle Machine::restFrom() const {
  Cycle rest = std::max({latest + 1, input.at, hostSequencer.freeFrom()});
  for (const Core &core : cores)
    rest = std::max(rest, core.restFrom());
  return rest;
}

std::vector<device::UnitStatus> Machine::status() const {
  std::vector<device::UnitStatus> all;
  for (const Core &core : cores)
    core.addStatus(all);
  all.push_back(input.status("input", hostSource));
  return all;
}

} // namespace sluice::vm::timed
