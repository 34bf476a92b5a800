// Where rows lie: addresses in inboxes, local memories and preload RAMs, once it is decided who
// computes what.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/conversion/plan/order/placement.h"

namespace sluice::plan {

/// Inbox addresses of the rows that travel, the same at every reader.
void assignInbox(const rows::Graph &graph, const Work &work, const PlacementOptions &options,
                 Placement &placement);

/// What every core has for itself: rows that stay, constants, zeros, biases, tables.
void assignLocal(const rows::Graph &graph, const Work &work, const PlacementOptions &options,
                 Placement &placement);

/// The last stage that reads a row, or the row's own; kNone for what is read in the next
/// inference.
std::vector<uint32_t> lastReads(const rows::Graph &graph, const Work &work);

/// The bits of the bias of a row: rows that begin with nothing else share a preload row if these
/// are equal.
std::string_view bitsOfBias(const rows::Row &row);

} // namespace sluice::plan
