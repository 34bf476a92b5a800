// What the units of a machine did in a stretch of cycles, added up by unit, core,
// layer and instruction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tools/cli/listing.h"
#include "tools/cli/table.h"

namespace sluice::cli {

/// Cycles `first` to `last`, both included.
struct Activity {
  uint64_t first = 0;
  uint64_t last = 0;
  std::vector<sluice_rt_span> spans; ///< of those cycles only; by core, unit, cycle

  uint64_t cycles() const { return last - first + 1; }
};

/// The part of a recording that lies in these cycles.
Activity cut(std::span<const sluice_rt_span> recording, uint64_t first, uint64_t last);

/// What the units do in one inference of some inputs, on an idle machine (spaced) or right after
/// others.
std::variant<Activity, Problem> recordInference(const ModelHandle &model, const std::string &engine,
                                                bool spaced);

/// Where two recordings of the same cycles differ: "cycle 12, matrix unit of core
/// 0: busy in instruction 3 / waits for a token in instruction 3"; "" if nowhere.
std::string difference(const Activity &a, const Activity &b);

/// "busy", "waits for a token", ...
std::string activityText(sluice_rt_activity activity);

/// The tables of `sluice profile` (docs/profiling.md describes every column).
class ActivityTables {
public:
  ActivityTables(const Activity &activity, const Listing &listing,
                 const sluice_rt_machine &machine);

  Table byLayer() const;
  Table byCore() const;
  Table byUnit() const;
  Table byInstruction() const;

private:
  /// Cycles by activity; `first` to `last` are those of the beats.
  struct Sums {
    uint64_t by[SLUICE_RT_IDLE + 1] = {};
    uint64_t first = 0, last = 0;
    uint64_t rows = 0;   ///< beats of vector units
    uint64_t blocks = 0; ///< beats that multiplied a weight block

    void add(const Sums &other);
  };
  struct UnitSums {
    uint32_t core = 0;
    sluice_rt_unit unit = SLUICE_RT_MATRIX;
    Sums sums;
  };

  /// The number, or "host port".
  Json core(uint32_t number) const;
  /// Beat times, counted from the first cycle; empty where there was no beat.
  void addTimes(std::vector<Json> &row, const Sums &sums) const;

  const Activity &activity;
  const Listing &listing;
  const sluice_rt_machine machine;
  std::vector<std::vector<Sums>> instructions; ///< by core and index
  std::vector<UnitSums> units;
};

} // namespace sluice::cli
