// A record of the status of every unit in every cycle, as spans of equal cycles.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/device/device.h"

namespace sluice::device {

/// The cycles from `first` to `last`, in which a unit had the same status.
struct Span {
  uint64_t first = 0;
  uint64_t last = 0;
  uint32_t core = 0; ///< core, or the number of cores for the host port
  enum class Unit : uint8_t { Matrix, Vector, Input } unit = Unit::Matrix;
  UnitStatus::Block block = UnitStatus::Block::Idle; ///< None: it issued a beat in every cycle
  uint32_t instruction = 0;                          ///< the active one; 0 if idle

  bool operator==(const Span &) const = default;
};

/// Clocks a machine and records the status of its units before every cycle. All engines give the
/// same record (docs/machine.md, Observation).
class Recorder {
public:
  /// Device::step, recorded. The engine's cycle 0 is cycle `origin` of the record.
  Device::Cycle step(Device &engine, uint64_t origin, const uint16_t *inputRow, bool outputReady);

  /// Returns all spans since construction, ordered by unit (matrix and vector unit of core 0, of
  /// core 1, ..., host port), then by cycle.
  std::vector<Span> spans() const;

private:
  std::vector<Span> ended;
  std::vector<Span> open; ///< one per unit
};

} // namespace sluice::device
