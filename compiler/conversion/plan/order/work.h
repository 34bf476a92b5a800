// What is left to do of a row graph: rows that matter, in stages whose rows do
// not depend on each other, without the terms that multiply by zero.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/conversion/row.h"

namespace sluice::rows {
struct Graph;
} // namespace sluice::rows

namespace sluice::plan {

// What is planned.
using rows::Graph;
using rows::kNoRow;
using rows::Row;
using rows::RowId;
using rows::RowKind;

/// No index into Graph::blocks.
inline constexpr uint32_t kNoBlock = ~uint32_t{0};

/// No number of a home.
inline constexpr uint32_t kNoHome = ~uint32_t{0};

/// A row and what it needs. Constant operands are included.
struct WorkRow {
  std::vector<rows::Term> terms; ///< Linear: the terms whose block is not zero
  uint32_t stage = 0;            ///< 0 inputs; ascending in topological order
  bool live = false;             ///< an output depends on it, in some inference
  bool awaited = false;          ///< an output depends on it in the same inference
  bool output = false;
  uint32_t outRow = 0; ///< if output
  /// Linear rows whose terms all vanish and vector rows of constants wait for
  /// this input row, so that they too happen once per inference.
  rows::RowId gate = rows::kNoRow;
  /// Rows of one home are on one core: those that hand a sum on to the next inference and those
  /// that begin with it, those that read a state and the one that holds it. kNoHome: any core.
  uint32_t home = kNoHome;
  /// Rows of one cell are tied by what their vector steps read of each other, or by a home: the
  /// gates and the state of some units of a recurrence.
  uint32_t cell = kNoHome;
  /// A sum that nothing but the last steps of its cell reads, and they read what takes longer
  /// too: an output gate. Elsewhere it costs the way to the cell and keeps nobody waiting.
  bool late = false;
};

struct Work {
  std::vector<WorkRow> rows;                    ///< parallel to Graph::rows
  std::vector<std::vector<rows::RowId>> stages; ///< live rows; [0] are the inputs, offered in order
  uint64_t beats = 0;          ///< of all units in one inference, besides those that only wait
  std::vector<uint64_t> cells; ///< by cell, its block products
  /// By home, its block products.
  std::vector<uint64_t> homes;
  bool sumsAhead = false;      ///< some row is a sum for the next inference
  std::vector<bool> isDynamic; ///< by block, whether rows are written to it

  const WorkRow &operator[](rows::RowId row) const { return rows[row]; }
};

/// Whether all products of a block are zero: those of its weights are, and no rows are written to
/// it.
bool isZeroBlock(const rows::Graph &graph, uint32_t block);

Work analyse(const rows::Graph &graph);

} // namespace sluice::plan
