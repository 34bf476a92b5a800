#include "sim/vm/machine.h"

#include <algorithm>

#include "runtime/format/program.h"

namespace sluice::vm {

Machine::Machine(const format::Program &program)
    : host(program.geometry, program.hostInstructions), network(program.geometry) {
  for (uint32_t core = 0; core < program.geometry.cores; ++core) {
    static const format::CoreImage none;
    const format::CoreImage &image = core < program.cores.size() ? program.cores[core] : none;
    cores.push_back(std::make_unique<Core>(program.geometry, image));
  }
}

void Machine::restart(const format::EntryPoint &entry) {
  const auto hostPort = static_cast<uint32_t>(cores.size());
  const auto at = [&](uint32_t place) { return place < entry.size() ? entry[place] : 0; };
  for (uint32_t core = 0; core < hostPort; ++core)
    cores[core]->restart(at(core));
  host.restart(at(hostPort));
  network.restart();
  now = 0;
}

Machine::Events Machine::step(const uint16_t *row, bool outputReady) {
  Events events;
  // Decisions, from the state at the start of the cycle: senders before the
  // arbiter, which takes from their FIFOs, and the arbiter before the host,
  // which makes room in the output.
  for (const std::unique_ptr<Core> &core : cores)
    if (core->nextEvent() <= now)
      events.progress |= core->decide(now);
  const HostPort::Issue issue = host.decide(now, row);
  events.inputTaken = issue.taken;
  events.progress |= issue.issued;
  events.progress |= network.arbitrate(cores, host, now);
  if (const OutputHead *head = outputReady ? host.head(now) : nullptr) {
    taken = *head;
    host.takeHead();
    events.output = &taken;
    events.progress = true;
  }
  // The writes of this cycle.
  network.deliver(cores, host, now);
  for (const std::unique_ptr<Core> &core : cores)
    core->settle(now);
  ++now;
  return events;
}

std::vector<device::UnitStatus> Machine::status() const {
  std::vector<device::UnitStatus> all;
  for (uint32_t core = 0; core < cores.size(); ++core)
    cores[core]->addStatus(core, now, all);
  all.push_back(host.status(static_cast<uint32_t>(cores.size())));
  return all;
}

std::vector<device::UnitCounters> Machine::counters() const {
  using Unit = device::UnitCounters::Unit;
  std::vector<device::UnitCounters> all;
  const auto hostPort = static_cast<uint32_t>(cores.size());
  for (uint32_t core = 0; core < hostPort; ++core) {
    cores[core]->addCounters(core, now, all);
    all.push_back({Unit::Network, core, network.counter(core).read(now)});
  }
  all.push_back({Unit::Input, hostPort, host.inputCounter().read(now)});
  all.push_back({Unit::Sequencer, hostPort, host.sequencerCounter().read(now)});
  all.push_back({Unit::Network, hostPort, network.counter(hostPort).read(now)});
  return all;
}

bool Machine::tokenFault() const {
  return host.tokenFault() || std::ranges::any_of(cores, [](const std::unique_ptr<Core> &core) {
           return core->tokenFault();
         });
}

} // namespace sluice::vm
