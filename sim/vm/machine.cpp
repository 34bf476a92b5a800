#include "sim/vm/machine.h"

#include <algorithm>

namespace sluice::vm {

Machine::Machine(const format::Program &program, bool withData)
    : host(program.geometry, program.hostInstructions, withData), network(program.geometry.cores) {
  for (uint32_t core = 0; core < program.geometry.cores; ++core) {
    static const format::CoreImage none;
    const format::CoreImage &image = core < program.cores.size() ? program.cores[core] : none;
    cores.push_back(std::make_unique<Core>(program.geometry, image, withData));
  }
}

Machine::Events Machine::step(bool offered, const uint16_t *row, bool outputReady) {
  Events events;
  // Decisions, from the state at the start of the cycle: senders before the
  // arbiter, which takes from their FIFOs, and the arbiter before the host,
  // which makes room in the output.
  for (const std::unique_ptr<Core> &core : cores)
    if (core->nextEvent() <= now)
      events.progress |= core->decide(now);
  const HostPort::Issue issue = host.decide(now, offered, row);
  events.inputTaken = issue.taken;
  events.progress |= issue.issued;
  events.progress |= network.arbitrate(cores, host, now);
  if (const OutputHead *head = outputReady ? host.head(now) : nullptr) {
    taken = *head;
    host.takeHead();
    events.output = &taken;
    events.progress = true;
  }
  // The writes of this cycle, then the reads that see them.
  network.deliver(cores, host, now);
  for (const std::unique_ptr<Core> &core : cores) {
    core->settle(now);
    core->finish();
  }
  ++now;
  return events;
}

Cycle Machine::nextEvent(bool offered) {
  Cycle next = std::min(network.nextEvent(cores, host), host.nextEvent(now, offered));
  for (const std::unique_ptr<Core> &core : cores)
    next = std::min(next, core->nextEvent());
  return next == kNever ? kNever : std::max(next, now);
}

std::vector<device::UnitStatus> Machine::status() const {
  std::vector<device::UnitStatus> all;
  for (uint32_t core = 0; core < cores.size(); ++core)
    cores[core]->addStatus(core, now, all);
  all.push_back(host.status(static_cast<uint32_t>(cores.size())));
  return all;
}

bool Machine::tokenFault() const {
  return host.tokenFault() || std::ranges::any_of(cores, [](const std::unique_ptr<Core> &core) {
           return core->tokenFault();
         });
}

} // namespace sluice::vm
