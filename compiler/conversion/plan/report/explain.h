// Explaining a finished plan: where every cycle of a timed run goes.
#pragma once

#include <string>

#include "compiler/conversion/plan/report/facts.h"
#include "compiler/conversion/plan/report/timeline.h"

namespace sluice::plan {

/// The part of an explanation that one timed run gives.
Explanation explain(const rows::Graph &graph, const Work &work, const Placement &placement,
                    const Timeline &timeline);

/// "pipeline +12, network -3": core cycles of `other` against `best`, per core,
/// largest first; what is less than a cycle is left out.
std::string difference(const Explanation &best, const Explanation &other);

} // namespace sluice::plan
