// The part of the proof that is about values: what is computed is what the graph says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/plan/order/placement.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

/// What an accumulator has summed up so far.
struct Accumulator {
  rows::RowId row = rows::kNoRow;
  isa::Init init = isa::Init::Keep;
  uint32_t preload = 0;                                   ///< address, where `init` says so
  std::vector<std::pair<rows::RowId, uint32_t>> products; ///< row and block
  bool left = false; ///< by the row; the content stays, and may leave again as another
};

/// Compares sums and vector steps with the rows of a graph.
class RowProof {
public:
  RowProof(const rows::Graph &graph, const Placement &placement)
      : graph(graph), placement(placement) {}

  /// An accumulator of a core holds what its row is. What is wrong, or nothing.
  std::optional<std::string> sum(uint32_t core, Accumulator &accumulator);

  /// An instruction of a core computes `row` of its operands.
  [[nodiscard]] std::optional<std::string> step(uint32_t core, const isa::Vec &vec,
                                                rows::RowId row) const;

  [[nodiscard]] bool isWide(rows::RowId row) const {
    return row != rows::kNoRow && graph.rows[row].wide;
  }

private:
  const rows::Graph &graph;
  const Placement &placement;
};

} // namespace sluice::plan
