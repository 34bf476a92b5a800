// Where rows lie: addresses in inboxes, local memories and preload RAMs, once it is decided who
// computes what.
#pragma once

#include "compiler/conversion/plan/order/placement.h"

namespace sluice::plan {

/// Inbox addresses of the rows that travel, the same at every reader.
void assignInbox(const rows::Graph &graph, const Work &work, const PlacementOptions &options,
                 Placement &placement);

/// What every core has for itself: rows that stay, constants, zeros, biases, tables.
void assignLocal(const rows::Graph &graph, const Work &work, const PlacementOptions &options,
                 Placement &placement);

} // namespace sluice::plan
