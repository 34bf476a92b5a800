// The order of the operations of a row graph, whatever order the model has them in.
#pragma once

#include <optional>

#include "compiler/conversion/row_graph.h"

namespace sluice::rows {

/// The graph with its groups in another order: of those whose operands are there, the one with the
/// longest way to an output comes first. Nothing if that is the order they have, or if rows pass
/// from one inference to the next.
std::optional<Graph> longestWayFirst(const Graph &graph);

} // namespace sluice::rows
