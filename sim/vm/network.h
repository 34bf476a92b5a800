// The multicast network: one packet per cycle from one of the outboxes or the
// host's input FIFO to any set of cores and the host.
#pragma once

#include <memory>
#include <vector>

#include "sim/vm/core.h"
#include "sim/vm/host_port.h"

namespace sluice::vm {

class Network {
public:
  using Cores = std::vector<std::unique_ptr<Core>>;

  /// After a reset, the round-robin arbiter starts at core 0.
  explicit Network(const format::Geometry &geometry)
      : hop(geometry.latencies().hop()), last(geometry.cores),
        activity(geometry.cores + 1, ActivityCounter(Activity::Idle)) {}

  void restart();

  /// Grants the first eligible packet in cycle `now`. Returns false if there is none.
  bool arbitrate(Cores &cores, HostPort &host, Cycle now);
  /// Delivers the packet that arrives at the end of cycle `now`.
  void deliver(Cores &cores, HostPort &host, Cycle now);

  /// Returns the activity of the network port of a core, or of the host port (source = number of
  /// cores).
  const ActivityCounter &counter(uint32_t source) const { return activity[source]; }

private:
  struct Flight {
    Cycle due = 0;
    Packet packet;
  };
  uint32_t hop;  ///< cycles from a grant to the first that shows the packet
  uint32_t last; ///< the source that was granted last
  std::vector<ActivityCounter> activity;
  Ring<Flight> flights{4};
};

} // namespace sluice::vm
