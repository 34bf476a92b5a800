// The multicast network: one packet per cycle from one of the outboxes or the
// host's input FIFO to any set of cores and the host.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/vm/core.h"
#include "sim/vm/host_port.h"

namespace sluice::vm {

class Network {
public:
  using Cores = std::vector<std::unique_ptr<Core>>;

  /// After reset the round robin starts at core 0.
  Network(uint32_t cores, bool counts)
      : last(cores), counts(counts), activity(cores + 1, ActivityCounter(Activity::Idle, counts)) {}

  /// Cycle `now`: grants the first eligible head and returns its source, if
  /// there is one.
  std::optional<uint32_t> arbitrate(Cores &cores, HostPort &host, Cycle now);
  /// End of cycle `now`: the packet granted two cycles before arrives.
  void deliver(Cores &cores, HostPort &host, Cycle now);

  Cycle nextEvent(const Cores &cores, HostPort &host) const;

  /// Of a core's way into the network, or of the host's, if it counts.
  const ActivityCounter &counter(uint32_t source) const { return activity[source]; }

private:
  void count(uint32_t source, Activity what, Cycle now) {
    if (counts)
      activity[source].enter(what, now);
  }

  struct Flight {
    Cycle due = 0;
    Packet packet;
  };
  uint32_t last; ///< source granted last
  bool counts;
  std::vector<ActivityCounter> activity;
  Ring<Flight> flights{4};
};

} // namespace sluice::vm
