// One core: sequencer, matrix unit, vector unit, tensor RAM.
#pragma once

#include <algorithm>

#include "sim/vm/sequencer.h"
#include "sim/vm/vector_unit.h"

namespace sluice::vm {

/// A cycle is `decide` on every core of which it is the next event, then, once the
/// network has moved, `settle` on every core.
class Core {
public:
  Core(const format::Geometry &geometry, const format::CoreImage &image);

  // The sequencer and the queues point into this object.
  Core(const Core &) = delete;
  Core &operator=(const Core &) = delete;

  /// Resets everything but the memories; cycle 0 follows.
  void restart(uint32_t entry);
  /// Writes of the configuration port, between a restart and cycle 0.
  void writeRow(uint32_t address, std::span<const uint16_t> row) {
    std::ranges::copy(row, ram.row(address).begin());
  }
  void writePreload(uint32_t row, std::span<const uint64_t> lanes) {
    matrix.data.writePreload(row, lanes);
  }

  /// What the units do in cycle `now`, from the state at its start; whether a beat
  /// issues.
  bool decide(Cycle now);
  /// The writes and signals due at the end of cycle `now`.
  void settle(Cycle now);

  /// A packet arrives at the end of cycle `now`.
  void receive(const Packet &packet, Cycle now);

  /// First cycle from which on something happens here, as of the last settle.
  Cycle nextEvent() const { return upcoming; }

  void addStatus(uint32_t core, Cycle now, std::vector<device::UnitStatus> &to) const;
  void addCounters(uint32_t core, Cycle now, std::vector<device::UnitCounters> &to) const;
  bool tokenFault() const { return matrix.front.tokens().fault() || vector.front.tokens().fault(); }
  const TensorRam &tensorRam() const { return ram; }

  /// The network takes packets from here and then calls outboxGranted.
  Ring<Packet> &outbox() { return vector.outbox; }
  void outboxGranted(Cycle now) {
    vector.front.wakeAt(now + 1);
    touched = true;
  }

private:
  void give(uint8_t units, uint8_t token, Cycle now);
  bool push(const Step &step, Cycle now);
  Cycle findNextEvent() const;

  Code code;
  Sequencer sequencer;
  MatrixUnit matrix;
  VectorUnit vector;
  TensorRam ram;
  Cycle upcoming;       ///< nextEvent
  bool touched = false; ///< from outside, since `upcoming` was found
};

} // namespace sluice::vm
