// The part of the proof that is about tensor rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/plan/order/placement.h"
#include "compiler/conversion/plan/proof/verify_moment.h"

namespace sluice::plan {

/// Follows what every tensor row of every core holds.
class MemoryProof {
public:
  MemoryProof(const rows::Graph &graph, const Placement &placement);

  /// The unit that accesses, in which beat, and what it knows.
  struct Access {
    uint32_t unit;
    Moment now;
    const Clock &clock;
  };

  /// A unit of `core` reads `expected` (kNoRow: zeros of the program image), or the
  /// lower halves of it; a state is what its holder was in the inference before. What is wrong,
  /// or nothing.
  std::optional<std::string> read(const Access &by, uint32_t core, int32_t address,
                                  rows::RowId expected, bool low = false);

  /// A unit, perhaps of another core, writes `row` or its lower halves.
  std::optional<std::string> write(const Access &by, uint32_t core, int32_t address,
                                   rows::RowId row, bool low = false);

private:
  struct Cell {
    rows::RowId value = rows::kNoRow;
    bool low = false; ///< the lower halves of a wide row
    uint32_t inference = 0;
    int writer = -1;      ///< unit; -1: the program image
    bool initial = false; ///< a state of the program image
    uint32_t writerBeat = 0;
    std::array<uint32_t, 2> lastRead{}; ///< by matrix and vector unit
  };

  const rows::Graph &graph;
  const uint32_t cores;
  std::vector<std::vector<Cell>> cells; ///< by core, by address
};

} // namespace sluice::plan
