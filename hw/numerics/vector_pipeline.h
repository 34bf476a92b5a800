// The rule by which beats of several paths share the pipeline of the vector unit
// (docs/machine.md, Vector unit).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hw/numerics/latency.h"

namespace sluice::isa {

/// The cycles from the issue of a beat to its entry into the table, into the reduction and to its
/// destination. Beats of all paths enter alu1 equally late, and alu2 equally long before their
/// destinations.
struct VectorEntries {
  static constexpr uint8_t kSkipped = 255; ///< the path does not use the unit

  uint8_t table = kSkipped;
  uint8_t reduce = kSkipped;
  uint8_t destination = 0; ///< L of docs/machine.md
};

constexpr VectorEntries vectorEntries(unsigned path, const Latencies &latencies) {
  const unsigned table = kVecRead + (path & 1) * latencies.alu();
  const bool looksUp = (path >> 1 & 1) != 0;
  VectorEntries out;
  if (looksUp)
    out.table = static_cast<uint8_t>(table);
  if (path >> 3 != 0)
    out.reduce = static_cast<uint8_t>(table + (looksUp ? latencies.table() : 0));
  out.destination = static_cast<uint8_t>(latencies.vector(path));
  return out;
}

/// The beats in the pipeline. A beat issues only if it enters each unit of its path, and reaches
/// its destination, later than every beat before it.
class VectorPipeline {
public:
  /// Returns the first cycle in which a beat may issue.
  uint64_t earliest(const VectorEntries &beat) const {
    return std::max({from(tableFree, beat.table), from(reduceFree, beat.reduce),
                     from(destinationFree, beat.destination)});
  }

  /// A beat issues in cycle `now`.
  void issue(const VectorEntries &beat, uint64_t now) {
    if (beat.table != VectorEntries::kSkipped)
      tableFree = now + beat.table + 1;
    if (beat.reduce != VectorEntries::kSkipped)
      reduceFree = now + beat.reduce + 1;
    destinationFree = now + beat.destination + 1;
  }

  /// Returns the first cycle without a beat in the pipeline.
  uint64_t emptyFrom() const { return destinationFree; }

private:
  static uint64_t from(uint64_t free, uint8_t entry) {
    return free - std::min<uint64_t>(free, entry);
  }

  // First cycles in which another beat may enter.
  uint64_t tableFree = 0, reduceFree = 0, destinationFree = 0;
};

} // namespace sluice::isa
