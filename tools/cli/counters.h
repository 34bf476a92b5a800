// Performance counters as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "runtime/api/sluice_rt.h"
#include "tools/cli/command_output.h"

namespace sluice::cli {

/// How one unit spent its cycles, by activity.
struct UnitCycles {
  sluice_rt_unit unit = SLUICE_RT_MATRIX;
  uint32_t core = 0;
  std::vector<uint64_t> cycles;
};

/// Of all units of one machine. A run may consist of several starts of the machine.
using UnitCounters = std::vector<UnitCycles>;

/// Adds the counters of another run of the same machine. `to` may be empty.
void addCounters(UnitCounters &to, const UnitCounters &more);

/// The first unit and activity in which two runs differ, or "".
std::string counterDifference(const UnitCounters &a, const UnitCounters &b);

/// A table with a line per unit.
std::string countersText(const UnitCounters &units);

/// [{"unit", "core", "busy", "idle", "waits": {...}}]; `core` is null for the host
/// port, `waits` names what the unit waited for.
Json countersJson(const UnitCounters &units);

} // namespace sluice::cli
