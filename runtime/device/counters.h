// The performance counters of a machine: the cycles of every unit by activity.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sluice::device {

/// The activity of a unit in one cycle (docs/machine.md, Counters). The first eight have the
/// numbers of UnitStatus::Block; Busy corresponds to None.
enum class Activity : uint8_t {
  Busy,
  WaitsToken,
  WaitsResult,
  WaitsTaker,
  WaitsNetwork,
  WaitsPipeline,
  WaitsHost,
  Idle,
  WaitsQueue, ///< sequencer: the queue of a unit is full
  WaitsTurn,  ///< network: another source is granted
  WaitsOutput ///< network: the output FIFO of the host is full
};
inline constexpr size_t kActivities = 11;

/// Cycles by activity.
using ActivityCycles = std::array<uint64_t, kActivities>;

/// The cycles of one unit since load, by activity. Each cycle counts for exactly one activity, so
/// the counts add up to the cycles of the run.
struct UnitCounters {
  enum class Unit : uint8_t {
    Matrix,
    Vector,
    Input,
    Sequencer,
    Network ///< port from the outbox of the core, or the input FIFO of the host, to the network
  };

  Unit unit = Unit::Matrix;
  uint32_t core = 0; ///< core, or the number of cores for the host port
  ActivityCycles cycles{};

  uint64_t of(Activity activity) const { return cycles[static_cast<size_t>(activity)]; }
  uint64_t total() const { return std::accumulate(cycles.begin(), cycles.end(), uint64_t{0}); }
  bool operator==(const UnitCounters &) const = default;
};

/// Returns the sum of the counters of two runs; `first` may be empty.
inline std::vector<UnitCounters> sum(const std::vector<UnitCounters> &first,
                                     std::vector<UnitCounters> second) {
  for (size_t unit = 0; unit < first.size(); ++unit)
    for (size_t i = 0; i < kActivities; ++i)
      second[unit].cycles[i] += first[unit].cycles[i];
  return second;
}

} // namespace sluice::device
