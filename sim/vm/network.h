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

  /// After reset the round robin starts at core 0.
  explicit Network(uint32_t cores)
      : last(cores), activity(cores + 1, ActivityCounter(Activity::Idle)) {}

  /// Cycle `now`: grants the first eligible head; false: there is none.
  bool arbitrate(Cores &cores, HostPort &host, Cycle now);
  /// End of cycle `now`: the packet granted two cycles before arrives.
  void deliver(Cores &cores, HostPort &host, Cycle now);

  /// Of a core's way into the network, or of the host's.
  const ActivityCounter &counter(uint32_t source) const { return activity[source]; }

private:
  struct Flight {
    Cycle due = 0;
    Packet packet;
  };
  uint32_t last; ///< source granted last
  std::vector<ActivityCounter> activity;
  Ring<Flight> flights{4};
};

} // namespace sluice::vm
