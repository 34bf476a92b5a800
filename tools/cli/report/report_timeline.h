// A recording as the timeline of a report.
#pragma once

#include "tools/cli/activity.h"

namespace sluice::cli {

/// {"cycles","activities","units":[{"core","unit","name","spans"}],"instructions"}. A span is
/// [first cycle, cycles, activity, instruction]; cycle 0 is the first of the activity. Cycles in
/// which a unit has no instruction are in no span. "cycles" is less than those of the activity
/// where there are more spans than a browser draws.
Json timelineJson(const Activity &activity, const Listing &listing,
                  const sluice_rt_machine &machine);

} // namespace sluice::cli
