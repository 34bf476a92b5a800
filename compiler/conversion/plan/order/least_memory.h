// What a graph takes of the memories whatever the placement: the search for a plan need not begin
// where that is more than there is.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/conversion/plan/order/work.h"
#include "runtime/format/geometry.h"

namespace sluice::plan {

/// Of all cores together, where nothing else is said. No placement takes less.
struct LeastMemory {
  uint64_t inputRows = 0;    ///< of every inbox
  uint64_t outputRows = 0;   ///< of every inbox, beside the inputs
  uint64_t constantRows = 0; ///< of local memories
  uint64_t rows = 0; ///< of one inbox and of all local memories: those that are there at once
  uint64_t weightBlocks = 0;
  uint64_t preloadRows = 0;
  uint64_t tables = 0;
};

LeastMemory leastMemory(const rows::Graph &graph, const Work &work);

/// Returns the rows that have addresses in the stage in which most rows do, without constants.
std::vector<RowId> rowsAtOnce(const rows::Graph &graph, const Work &work);

/// Whether a target has that much of everything but `rows`. The other needs stay the same if rows
/// are put in another order or reductions are split.
bool fitsButForRows(const LeastMemory &least, const format::Geometry &geometry);

/// Whether a target has that much.
bool fits(const LeastMemory &least, const format::Geometry &geometry);

} // namespace sluice::plan
