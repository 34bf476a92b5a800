#include "sim/vm/network.h"

namespace sluice::vm {

void Network::restart() {
  const auto sources = static_cast<uint32_t>(activity.size());
  last = sources - 1;
  activity.assign(sources, ActivityCounter(Activity::Idle));
  flights = Ring<Flight>();
}

bool Network::arbitrate(Cores &cores, HostPort &host, Cycle now) {
  const auto hostSource = static_cast<uint32_t>(cores.size());
  const bool hostFree = host.acceptsRow(); // before a grant that takes the last place
  bool granted = false;
  uint32_t source = last;
  for (uint32_t tried = 0; tried <= hostSource; ++tried) {
    source = source == hostSource ? 0 : source + 1;
    Ring<Packet> &fifo = source == hostSource ? host.inputFifo() : cores[source]->outbox();
    if (fifo.empty() || fifo.front().from > now) {
      activity[source].enter(Activity::Idle, now);
      continue;
    }
    const Packet &packet = fifo.front();
    const bool hostRow = packet.hasRow && packet.forHost();
    if (hostRow && !hostFree) {
      activity[source].enter(Activity::WaitsOutput, now);
      continue;
    }
    if (granted) {
      activity[source].enter(Activity::WaitsTurn, now);
      continue;
    }
    activity[source].enter(Activity::Busy, now);
    if (hostRow)
      host.reserveRow();
    flights.push({now + hop - 1, packet});
    fifo.pop();
    if (fifo.empty() || fifo.front().from > now + 1)
      activity[source].enter(Activity::Idle, now + 1);
    if (source == hostSource)
      host.inputGranted(now);
    else
      cores[source]->outboxGranted(now);
    last = source;
    granted = true;
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

} // namespace sluice::vm
