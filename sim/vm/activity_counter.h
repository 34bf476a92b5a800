// The number of cycles that a unit spends on each activity.
#pragma once

#include <cstdint>

#include "runtime/device/counters.h"

namespace sluice::vm {

using Cycle = uint64_t;
using device::Activity;

/// Counts only when the activity changes: a cycle without a change costs one comparison.
class ActivityCounter {
public:
  explicit ActivityCounter(Activity first) : current(first) {}

  /// Sets the activity from cycle `now` on. `now` must not be before the last change.
  void enter(Activity next, Cycle now) {
    if (next == current)
      return;
    cycles[static_cast<size_t>(current)] += now - since;
    since = now;
    current = next;
  }

  /// Returns the counts of all cycles before `now`.
  device::ActivityCycles read(Cycle now) const {
    device::ActivityCycles out = cycles;
    out[static_cast<size_t>(current)] += now - since;
    return out;
  }

private:
  Activity current;
  Cycle since = 0;
  device::ActivityCycles cycles{};
};

} // namespace sluice::vm
