// The graph that the planner orders, and whether any plan of it may fit.
#pragma once

#include <optional>

#include "compiler/conversion/plan/order/least_memory.h"
#include "compiler/conversion/plan/order/work.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

/// A graph without products of states: their sums are precomputed (workAhead()). A graph without
/// states stays as it is. No state of `whole` may be circular.
class Planned {
public:
  explicit Planned(const rows::Graph &whole, bool longestWayFirst = false);
  Planned(const Planned &) = delete;
  Planned &operator=(const Planned &) = delete;

  [[nodiscard]] const rows::Graph &graph() const { return ahead ? *ahead : whole; }
  [[nodiscard]] const Work &work() const { return analysed; }
  [[nodiscard]] const LeastMemory &leastMemory() const { return least; }
  /// Whether some plan may fit the target of the graph.
  [[nodiscard]] bool mayFit() const { return fits(least, whole.geometry); }

private:
  const rows::Graph &whole;
  std::optional<rows::Graph> ahead;
  Work analysed;
  LeastMemory least;
};

} // namespace sluice::plan
