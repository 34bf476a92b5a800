// The whole machine, one cycle at a time: the model behind the `vm` engine.
#pragma once

#include "sim/vm/network.h"

namespace sluice::vm {

class Machine {
public:
  explicit Machine(const format::Program &program);

  /// Resets everything except the memories. Cycle 0 begins at `entry`; if it is empty, at
  /// instruction 0 of each list.
  void restart(const format::EntryPoint &entry);
  Core &core(uint32_t index) { return *cores[index]; }

  struct Events {
    bool inputTaken = false;
    const OutputHead *output = nullptr; ///< the row that the host takes; valid until the next step
    bool progress = false; ///< a beat issued, a packet was granted or the host took a row
  };
  /// Runs the current cycle. `row` points to the lanes of the row that the host offers; null if it
  /// offers none. `outputReady`: the host takes an output row.
  Events step(const uint16_t *row, bool outputReady);

  /// The number of the cycle that `step` runs next.
  Cycle cycle() const { return now; }

  std::vector<device::UnitStatus> status() const;
  std::vector<device::UnitCounters> counters() const;
  bool tokenFault() const;
  const TensorRam &tensorRam(uint32_t core) const { return cores[core]->tensorRam(); }

private:
  Network::Cores cores;
  HostPort host;
  Network network;
  Cycle now = 0;
  OutputHead taken;
};

} // namespace sluice::vm
