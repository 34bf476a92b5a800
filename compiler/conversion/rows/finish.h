// Last rewrites of a row graph, on rows alone.
#pragma once

#include <set>

#include "compiler/conversion/row.h"

namespace sluice::rows {

struct Graph;

/// A vector row whose operand a is used by nothing else is computed in the same
/// step as it, where the datapath allows: behind the matrix unit, or a table
/// behind an arithmetic unit. Intermediate values are then not rounded. Two of `merges` remain two
/// passes of their tree.
void fuseSteps(Graph &graph, const std::set<RowId> &merges);

/// A sum of two products is one product of more terms, if nothing else reads either, and what is
/// added to a product and constant is its bias. Whether there was any.
bool mergeSums(Graph &graph);

/// Rows without a name of their own that are summed up to one that has are parts of it.
void nameParts(Graph &graph);

/// Drops rows, blocks and tables that no output needs (inputs stay), puts
/// inputs and constants first, and numbers groups in order.
void compact(Graph &graph);

} // namespace sluice::rows
