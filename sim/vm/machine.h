// The whole machine, one cycle at a time: the model behind the `vm` engine.
#pragma once

#include "sim/vm/network.h"

namespace sluice::vm {

class Machine {
public:
  explicit Machine(const format::Program &program);

  /// Resets everything but the memories and begins cycle 0 at `entry` (empty: at 0).
  void restart(const format::EntryPoint &entry);
  Core &core(uint32_t index) { return *cores[index]; }

  struct Events {
    bool inputTaken = false;
    const OutputHead *output = nullptr; ///< the row the host takes, valid until the next step
    bool progress = false; ///< a beat issued, a packet was granted or the host took a row
  };
  /// Runs the current cycle. `row` holds the lanes of the row offered; null: none.
  Events step(const uint16_t *row, bool outputReady);

  /// The cycle that runs next.
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
