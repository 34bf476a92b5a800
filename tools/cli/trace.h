// A recording in the JSON trace event format, which ui.perfetto.dev and
// chrome://tracing open.
#pragma once

#include <string>

#include "tools/cli/activity.h"

namespace sluice::cli {

/// What to tell of a written trace.
inline constexpr const char *kTraceViewer = "open it in ui.perfetto.dev";

/// One process per core and one for the host port, one thread per unit; a slice
/// for every stretch in which a unit has the same instruction, with slices inside
/// it for what it waits for; counters of how many units are busy. Cycle 0 of the
/// trace is the first of the activity; times are cycles at the target's clock,
/// rounded to nanoseconds.
std::string traceText(const Activity &activity, const Listing &listing,
                      const sluice_rt_machine &machine);

} // namespace sluice::cli
