#include "compiler/conversion/plan/order/planned.h"

#include "compiler/conversion/plan/order/work_ahead.h"

namespace sluice::plan {

Planned::Planned(const rows::Graph &whole, bool longestWayFirst) : whole(whole) {
  if (!whole.states.empty())
    ahead = workAhead(whole, longestWayFirst);
  analysed = analyse(graph());
  least = plan::leastMemory(graph(), analysed);
}

} // namespace sluice::plan
