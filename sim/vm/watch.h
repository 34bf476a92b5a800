// Observation of a timing-only run, beat by beat.
#pragma once

#include <cstdint>

namespace sluice::vm {

/// Receives the events of a timing-only run. The events of one unit arrive in the order of cycles,
/// and so do the grants. The events of one unit may arrive before earlier events of another unit,
/// and include beats that issue after the end of the run.
class Watch {
public:
  enum class Unit : uint8_t { Matrix, Vector, Host };

  virtual ~Watch() = default;
  /// A unit issues `beats` beats in consecutive cycles, the first one in cycle `first`. For the
  /// host port, `core` is the number of cores.
  virtual void issued(Unit unit, uint32_t core, uint64_t first, uint64_t beats) = 0;
  /// The network takes a packet from the outbox of core `source`, or from the input FIFO of the
  /// host if `source` is the number of cores.
  virtual void granted(uint32_t source, uint64_t cycle) = 0;
};

} // namespace sluice::vm
