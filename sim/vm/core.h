// One core: sequencer, matrix unit, vector unit, tensor RAM.
#pragma once

#include <algorithm>

#include "sim/vm/sequencer.h"
#include "sim/vm/vector_unit.h"

namespace sluice::vm {

/// One core. A cycle consists of `decide` on every core whose next event it is, then a step of the
/// network, then `settle` on every core.
class Core {
public:
  Core(const format::Geometry &geometry, const format::CoreImage &image);

  // The sequencer and the queues point into this object.
  Core(const Core &) = delete;
  Core &operator=(const Core &) = delete;

  /// Resets everything except the memories; cycle 0 follows. `entry` is the first instruction.
  void restart(uint32_t entry);
  /// Writes through the configuration port, between a restart and cycle 0.
  void writeRow(uint32_t address, std::span<const uint16_t> row) {
    std::ranges::copy(row, ram.row(address).begin());
  }
  void writePreload(uint32_t row, std::span<const uint64_t> lanes) {
    matrix.data.writePreload(row, lanes);
  }

  /// Calls `watch`, unless it is empty, with every row that the vector unit writes or sends.
  void watchRows(VectorUnit::RowWatch watch) { vector.watch = std::move(watch); }

  /// Decides the actions of all units in cycle `now` from the state at its start. Returns whether a
  /// beat issues.
  bool decide(Cycle now);
  /// Makes the writes and signals that are due at the end of cycle `now`.
  void settle(Cycle now);

  /// Receives a packet at the end of cycle `now`.
  void receive(const Packet &packet, Cycle now);

  /// Returns the next cycle in which the core changes its state, as known at the last `settle`.
  Cycle nextEvent() const { return upcoming; }

  void addStatus(uint32_t core, Cycle now, std::vector<device::UnitStatus> &to) const;
  void addCounters(uint32_t core, Cycle now, std::vector<device::UnitCounters> &to) const;
  bool tokenFault() const { return matrix.front.tokens().fault() || vector.front.tokens().fault(); }
  const TensorRam &tensorRam() const { return ram; }

  /// The packets to send. The network removes a packet and then calls outboxGranted.
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
  bool touched = false; ///< whether another unit changed the core since `upcoming` was computed
};

} // namespace sluice::vm
