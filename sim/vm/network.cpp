#include "sim/vm/network.h"

#include <algorithm>

namespace sluice::vm {

std::optional<uint32_t> Network::arbitrate(Cores &cores, HostPort &host, Cycle now) {
  const auto hostSource = static_cast<uint32_t>(cores.size());
  const bool hostFree = host.acceptsRow(); // before a grant that takes the last place
  std::optional<uint32_t> granted;
  uint32_t source = last;
  for (uint32_t tried = 0; tried <= hostSource; ++tried) {
    source = source == hostSource ? 0 : source + 1;
    Ring<Packet> &fifo = source == hostSource ? host.inputFifo() : cores[source]->outbox();
    if (fifo.empty() || fifo.front().from > now) {
      count(source, Activity::Idle, now);
      continue;
    }
    const Packet &packet = fifo.front();
    const bool hostRow = packet.hasRow && packet.forHost();
    if (hostRow && !hostFree) {
      count(source, Activity::WaitsOutput, now);
      continue;
    }
    if (granted) {
      count(source, Activity::WaitsTurn, now);
      continue;
    }
    count(source, Activity::Busy, now);
    if (hostRow)
      host.reserveRow();
    flights.push({now + isa::kNetHop - 1, packet});
    fifo.pop();
    if (fifo.empty() || fifo.front().from > now + 1)
      count(source, Activity::Idle, now + 1);
    if (source == hostSource)
      host.inputGranted(now);
    else
      cores[source]->outboxGranted(now);
    granted = last = source;
    if (!counts)
      break;
  }
  return granted;
}

void Network::deliver(Cores &cores, HostPort &host, Cycle now) {
  if (flights.empty() || flights.front().due > now)
    return;
  const Packet &packet = flights.front().packet;
  for (uint32_t core = 0; core < cores.size(); ++core)
    if (packet.forCore(core))
      cores[core]->receive(packet, now);
  if (packet.forHost())
    host.receive(packet, now);
  flights.pop();
}

Cycle Network::nextEvent(const Cores &cores, HostPort &host) const {
  Cycle next = flights.empty() ? kNever : flights.front().due;
  for (const std::unique_ptr<Core> &core : cores)
    if (!core->outbox().empty())
      next = std::min(next, core->outbox().front().from);
  if (!host.inputFifo().empty())
    next = std::min(next, host.inputFifo().front().from);
  return next;
}

} // namespace sluice::vm
