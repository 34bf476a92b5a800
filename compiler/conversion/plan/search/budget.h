// What the search for a plan may cost: counted in work, not in seconds, so that every machine
// finds the same plan.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::plan {

/// Work in beats of one inference: each counts once when a candidate is built, and as often as
/// the proof or the timing model run it.
class Budget {
public:
  explicit Budget(uint64_t most) : most(most), limit(most) {}

  /// Until the next call, one of `parts` equal shares of what is left may be spent.
  void share(uint64_t parts) { limit = used + left() / parts; }

  /// Whether so many beats are left of the share.
  [[nodiscard]] bool affords(uint64_t beats) const { return used + beats <= limit; }
  /// Beats that are spent, whether they were left or not.
  void spend(uint64_t beats) { used += beats; }

  [[nodiscard]] uint64_t spent() const { return used; }
  [[nodiscard]] uint64_t left() const { return most - std::min(used, most); }

private:
  uint64_t most, limit, used = 0;
};

} // namespace sluice::plan
