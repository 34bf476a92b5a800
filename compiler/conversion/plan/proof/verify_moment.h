// What the parts of the proof of a schedule share: beats, and what units know of each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hw/isa/isa.h"

namespace sluice::plan {

inline constexpr unsigned kMaxUnits = 2 * isa::kMaxCores + 1;

/// What a unit knows of all units: how many of their beats have issued, and
/// how many have also arrived at their destinations. An issued beat reads in
/// the next cycle, so nothing that knows of it can overtake its reads.
struct Clock {
  std::array<uint32_t, kMaxUnits> issued{}, arrived{};

  void merge(const Clock &other) {
    for (unsigned u = 0; u < kMaxUnits; ++u) {
      issued[u] = std::max(issued[u], other.issued[u]);
      arrived[u] = std::max(arrived[u], other.arrived[u]);
    }
  }
};

/// A beat of a unit, counted from 1 over all inferences.
struct Moment {
  uint32_t inference = 0;
  uint32_t beat = 0;
};

} // namespace sluice::plan
