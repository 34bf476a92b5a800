// The performance counters of a machine: where the cycles of every unit went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sluice::device {

/// What a unit does in a cycle (docs/machine.md, Counters). The first eight are
/// numbered as UnitStatus::Block, busy being none.
enum class Activity : uint8_t {
  Busy,
  WaitsToken,
  WaitsResult,
  WaitsTaker,
  WaitsNetwork,
  WaitsPipeline,
  WaitsHost,
  Idle,
  WaitsQueue, ///< sequencer: for room in a unit's queue
  WaitsTurn,  ///< network: another source's packet is granted
  WaitsOutput ///< network: for room in the host's output FIFO
};
inline constexpr size_t kActivities = 11;

/// Cycles by activity.
using ActivityCycles = std::array<uint64_t, kActivities>;

/// How one unit spent the cycles since load. A cycle is of one activity, so those
/// of a unit add up to the cycles run.
struct UnitCounters {
  enum class Unit : uint8_t {
    Matrix,
    Vector,
    Input,
    Sequencer,
    Network ///< from the core's outbox, or the host's input FIFO, into the network
  };

  Unit unit = Unit::Matrix;
  uint32_t core = 0; ///< core, or the number of cores for the host port
  ActivityCycles cycles{};

  uint64_t of(Activity activity) const { return cycles[static_cast<size_t>(activity)]; }
  uint64_t total() const { return std::accumulate(cycles.begin(), cycles.end(), uint64_t{0}); }
  bool operator==(const UnitCounters &) const = default;
};

/// The counters of two runs together; the first may be empty.
inline std::vector<UnitCounters> sum(const std::vector<UnitCounters> &first,
                                     std::vector<UnitCounters> second) {
  for (size_t unit = 0; unit < first.size(); ++unit)
    for (size_t i = 0; i < kActivities; ++i)
      second[unit].cycles[i] += first[unit].cycles[i];
  return second;
}

} // namespace sluice::device
