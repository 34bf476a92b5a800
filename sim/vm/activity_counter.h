// How many cycles a unit spends on each of its activities.
#pragma once

#include <cstdint>

#include "runtime/device/counters.h"

namespace sluice::vm {

using Cycle = uint64_t;
using device::Activity;

/// Counts when the activity changes, so that a cycle without a change costs a
/// comparison.
class ActivityCounter {
public:
  explicit ActivityCounter(Activity first) : current(first) {}

  /// From cycle `now` on, which is not before the last change, the unit does `next`.
  void enter(Activity next, Cycle now) {
    if (next == current)
      return;
    cycles[static_cast<size_t>(current)] += now - since;
    since = now;
    current = next;
  }

  /// The cycles before `now`.
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
