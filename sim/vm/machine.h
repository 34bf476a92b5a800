// The whole machine, one cycle at a time: the model behind both the `vm` engine
// and the timing-only runs.
#pragma once

#include "sim/vm/network.h"
#include "sim/vm/watch.h"

namespace sluice::vm {

class Machine {
public:
  /// Without data, rows and memories do not exist and units pass over beats that
  /// nothing else depends on; every cycle count is the same.
  Machine(const format::Program &program, bool withData);

  struct Events {
    bool inputTaken = false;
    const OutputHead *output = nullptr; ///< the row the host takes, valid until the next step
    bool progress = false; ///< a beat issued, a packet was granted or the host took a row
  };
  /// Runs the current cycle. `row` holds the lanes of the row offered; it may be
  /// null if none is offered or there is no data.
  Events step(bool offered, const uint16_t *row, bool outputReady);

  /// Tells `to` what happens from now on; null: nobody.
  void setWatch(Watch *to) { watch = to; }

  /// The cycle that runs next.
  Cycle cycle() const { return now; }

  /// First cycle, not before the current one, in which something may happen if
  /// `offered` stays as it is and the host takes every row; kNever if nothing
  /// will. Cycles before it may be passed over by skipTo.
  Cycle nextEvent(bool offered);
  void skipTo(Cycle cycle) { now = cycle; }

  std::vector<device::UnitStatus> status() const;
  /// Only with data: a cycle passed over is not counted.
  std::vector<device::UnitCounters> counters() const;
  bool tokenFault() const;
  /// Only with data.
  const TensorRam &tensorRam(uint32_t core) const { return cores[core]->tensorRam(); }

private:
  void tell(uint32_t core, const Core::Issued &issued);

  Network::Cores cores;
  HostPort host;
  Network network;
  Cycle now = 0;
  OutputHead taken;
  Watch *watch = nullptr;
};

} // namespace sluice::vm
