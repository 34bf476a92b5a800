// What the search for a plan may cost: counted in work, not in seconds, so that every machine
// finds the same plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "compiler/support/interruption.h"

namespace sluice::plan {

/// Work in beats of one inference: each counts once when a candidate is built, and as often as
/// the proof or the timing model run it.
class Budget {
public:
  /// Beyond `stop`, nothing is affordable. Up to there, the search is the same as without it.
  /// Nothing is affordable either once an end is requested. `interruption` may be null.
  explicit Budget(uint64_t most, uint64_t stop = std::numeric_limits<uint64_t>::max(),
                  const Interruption *interruption = nullptr)
      : most(most), limit(most), stop(stop), interruption(interruption) {}

  /// Until the next call, one of `parts` equal shares of what is left may be spent.
  void share(uint64_t parts) { limit = used + left() / parts; }

  /// Whether so many beats are left of the share.
  [[nodiscard]] bool affords(uint64_t beats) {
    const bool left = used + beats <= limit;
    if (left && interruption && interruption->isRequested) {
      interrupted = true;
      return false;
    }
    stopped |= left && used + beats > stop;
    return left && used + beats <= stop;
  }
  /// Beats that are spent, whether they were left or not.
  void spend(uint64_t beats) { used += beats; }

  [[nodiscard]] uint64_t spent() const { return used; }
  [[nodiscard]] uint64_t left() const { return most - std::min(used, most); }
  /// Whether something was not affordable only because of `stop`.
  [[nodiscard]] bool wasStopped() const { return stopped; }
  /// Whether something was not affordable only because of a request to end.
  [[nodiscard]] bool wasInterrupted() const { return interrupted; }

private:
  uint64_t most, limit, stop, used = 0;
  const Interruption *interruption;
  bool stopped = false, interrupted = false;
};

} // namespace sluice::plan
