// What a timing-only run can tell about itself, beat by beat.
#pragma once

#include <cstdint>

namespace sluice::vm {

/// Receives the events of a timing-only run: those of one unit, and the grants, in
/// the order of cycles. Units may be told of ahead of each other, and of beats that
/// issue after the end of the run. A run without one only looks at a null pointer.
class Watch {
public:
  enum class Unit : uint8_t { Matrix, Vector, Host };

  virtual ~Watch() = default;
  /// A unit issues its next `beats` beats in as many cycles, from `first` on.
  /// `core` is the number of cores for the host port.
  virtual void issued(Unit unit, uint32_t core, uint64_t first, uint64_t beats) = 0;
  /// The network takes the head of a core's outbox (source = number of cores:
  /// of the host's input FIFO).
  virtual void granted(uint32_t source, uint64_t cycle) = 0;
};

} // namespace sluice::vm
