#include "tools/cli/counters.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sluice::cli {

namespace {

uint64_t total(const UnitCycles &unit) {
  return std::accumulate(std::begin(unit.cycles), std::end(unit.cycles), uint64_t{0});
}

/// The host port comes last and has the highest number.
bool isHost(const UnitCounters &units, const UnitCycles &unit) {
  return unit.core == units.back().core;
}

std::string title(const UnitCounters &units, const UnitCycles &unit) {
  const char *name = sluice_rt_unit_name(unit.unit);
  return isHost(units, unit) ? fmt::format("host {}", name)
                             : fmt::format("core {} {}", unit.core, name);
}

/// Calls with name and cycles of everything the unit waited for.
template <class Call> void forWaits(const UnitCycles &unit, Call &&call) {
  for (size_t i = 0; i < unit.cycles.size(); ++i)
    if (i != SLUICE_RT_BUSY && i != SLUICE_RT_IDLE && unit.cycles[i] != 0)
      call(sluice_rt_activity_name(static_cast<sluice_rt_activity>(i)), unit.cycles[i]);
}

} // namespace

void addCounters(UnitCounters &to, const UnitCounters &more) {
  if (to.empty()) {
    to = more;
    return;
  }
  for (size_t u = 0; u < to.size(); ++u)
    for (size_t i = 0; i < to[u].cycles.size(); ++i)
      to[u].cycles[i] += more[u].cycles[i];
}

std::string counterDifference(const UnitCounters &a, const UnitCounters &b) {
  for (size_t u = 0; u < a.size(); ++u)
    for (size_t i = 0; i < a[u].cycles.size(); ++i)
      if (a[u].cycles[i] != b[u].cycles[i])
        return fmt::format(
            "{} spends {} cycles '{}', on the other engine {}", title(a, a[u]), a[u].cycles[i],
            sluice_rt_activity_name(static_cast<sluice_rt_activity>(i)), b[u].cycles[i]);
  return "";
}

std::string countersText(const UnitCounters &units) {
  std::string text =
      fmt::format("{:<20}{:>12}{:>9}{:>12}   waits, in cycles\n", "unit", "busy", "", "idle");
  for (const UnitCycles &unit : units) {
    const uint64_t all = std::max<uint64_t>(total(unit), 1), busy = unit.cycles[SLUICE_RT_BUSY];
    std::string waits;
    forWaits(unit, [&](const char *name, uint64_t cycles) {
      waits += fmt::format("{}{} {}", waits.empty() ? "   " : ", ", name, cycles);
    });
    text += fmt::format("{:<20}{:>12}{:>7.1f} %{:>12}{}\n", title(units, unit), busy,
                        100.0 * static_cast<double>(busy) / static_cast<double>(all),
                        unit.cycles[SLUICE_RT_IDLE], waits);
  }
  return text;
}

Json countersJson(const UnitCounters &units) {
  Json list = Json::array();
  for (const UnitCycles &unit : units) {
    Json waits = Json::object();
    forWaits(unit, [&](const char *name, uint64_t cycles) { waits[name] = cycles; });
    list.push_back({{"unit", sluice_rt_unit_name(unit.unit)},
                    {"core", isHost(units, unit) ? Json(nullptr) : Json(unit.core)},
                    {"busy", unit.cycles[SLUICE_RT_BUSY]},
                    {"idle", unit.cycles[SLUICE_RT_IDLE]},
                    {"waits", waits}});
  }
  return list;
}

} // namespace sluice::cli
