// The part of the proof that is about sums that pass from one inference to the next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/plan/order/placement.h"
#include "compiler/conversion/plan/proof/verify_moment.h"

namespace sluice::plan {

/// Follows what matrix units leave in preload rows.
class PreloadProof {
public:
  PreloadProof(const rows::Graph &graph, const Placement &placement);

  /// A sum of a core begins with the preload row that is its own. What is wrong, or nothing.
  std::optional<std::string> begin(uint32_t core, uint32_t address, Moment now);

  /// A sum ahead is left in a preload row.
  std::optional<std::string> leave(uint32_t core, uint32_t address, rows::RowId sum, Moment now);

private:
  struct Cell {
    std::optional<Moment> left;    ///< by the sum ahead; none: it holds the program's image
    std::optional<uint32_t> begun; ///< the last inference whose sum began with it
  };

  const rows::Graph &graph;
  const Placement &placement;
  std::vector<std::vector<Cell>> cells; ///< by core, by address
};

} // namespace sluice::plan
