// When: the order in which every matrix unit does its block products and every
// vector unit its rows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/conversion/plan/order/placement.h"

namespace sluice::plan {

/// One block product.
struct MatrixItem {
  rows::RowId row = rows::kNoRow;
  uint32_t term = 0;  ///< index into WorkRow::terms; kNone: nothing, for the bias alone
  uint32_t acc = 0;   ///< accumulator
  bool first = false; ///< of the row
  bool last = false;  ///< of the row
  uint64_t time = 0;  ///< estimated cycle
};

/// One row of a vector unit, one copy of a row into a weight block, or both in one.
struct VectorItem {
  rows::RowId row = rows::kNoRow;
  uint64_t time = 0;
  uint32_t stage = 0;        ///< of the row, or of the rows that read the block it is copied to
  uint32_t block = kNoBlock; ///< of a write
  uint32_t index = 0;        ///< of a write: output lane or input position
};

struct Order {
  std::vector<std::vector<MatrixItem>> matrix; ///< by core
  std::vector<std::vector<VectorItem>> vector; ///< by core
  std::vector<uint64_t> arrival; ///< by row: estimated first cycle in which a reader may issue
};

/// A matrix unit sweeps all rows of a stage over the operands that arrive
/// early, and then finishes row by row over the operands that arrive late, so
/// that it neither waits for operands nor makes the next stage wait for rows.
/// tail[stage] is how many operands count as late.
using Tails = std::vector<uint32_t>;

/// Orders by running the rows on a coarse model of the machine: an order that
/// ran there cannot deadlock. Nothing if the model got stuck, which is an
/// error of the graph's order of rows.
std::optional<Order> makeOrder(const rows::Graph &graph, const Work &work,
                               const Placement &placement, const Tails &tails);

/// Largest number of distinct operands of any core's rows, by stage.
std::vector<uint32_t> operandCounts(const rows::Graph &graph, const Work &work,
                                    const Placement &placement);

/// Which optional parts of the vector unit a step uses.
unsigned vectorPath(const rows::VectorStep &step);

} // namespace sluice::plan
