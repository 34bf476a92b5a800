#include "compiler/conversion/plan/order/least_memory.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/conversion/plan/order/addresses.h"
#include "compiler/conversion/plan/order/operands.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

/// Rows that have an address whoever computes them: not those of the host alone, nor those that
/// may be computed into a weight block.
std::vector<bool> addressed(const Graph &graph, const Work &work) {
  std::vector<bool> result(graph.rows.size());
  for (const std::vector<RowId> &stage : work.stages)
    for (const RowId row : stage)
      result[row] = !work[row].output && !graph.rows[row].ahead;
  for (const auto &[block, dynamic] : graph.dynamic)
    for (const rows::BlockWrite &write : dynamic.writes)
      result[write.row] = false;
  for (const rows::State &state : graph.states)
    result[state.next] = work[state.next].live;
  return result;
}

/// Returns the addresses of every inbox that belong to output rows. A row for the host and for
/// cores travels once, so its address is its output row. Then no other row has the address of an
/// output row.
uint64_t outputsInInbox(const Graph &graph, const Work &work) {
  bool isRead = false;
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (const RowId row : work.stages[stage]) {
      forEachOperand(graph, work, row,
                     [&](RowId operand, bool) { isRead |= work[operand].output; });
      forEachState(graph, row,
                   [&](uint32_t state) { isRead |= work[graph.states[state].next].output; });
    }
  uint64_t rows = 0;
  for (const rows::Port &port : graph.outputs)
    rows += port.rows.size();
  return isRead ? rows : 0;
}

} // namespace

// A row has an address from the stage that computes it to the last stage that reads it, which is as
// soon as the address is given to another row. A row that the next inference reads keeps its own.
std::vector<RowId> rowsAtOnce(const Graph &graph, const Work &work) {
  const std::vector<uint32_t> last = lastReads(graph, work);
  const std::vector<bool> counts = addressed(graph, work);
  std::vector<uint64_t> ends(work.stages.size() + 1); // behind each stage
  uint64_t now = 0, most = 0;
  uint32_t fullest = 0;
  for (uint32_t stage = 0; stage < work.stages.size(); ++stage) {
    for (const RowId row : work.stages[stage])
      if (counts[row] && last[row] != kNone) {
        ++now;
        ++ends[last[row]];
      }
    if (now > most) {
      most = now;
      fullest = stage;
    }
    now -= ends[stage];
  }
  std::vector<RowId> rows;
  for (uint32_t stage = 0; stage < work.stages.size(); ++stage)
    for (const RowId row : work.stages[stage])
      if (counts[row] && (last[row] == kNone || (stage <= fullest && last[row] >= fullest)))
        rows.push_back(row);
  return rows;
}

LeastMemory leastMemory(const Graph &graph, const Work &work) {
  LeastMemory least;
  least.inputRows = work.stages[0].size();
  least.outputRows = outputsInInbox(graph, work);
  std::vector<bool> block(graph.blocks.size()), constant(graph.rows.size());
  std::set<uint32_t> tables;
  std::unordered_set<std::string_view> biases;
  const auto first = [](std::vector<bool> &seen, size_t index) {
    const bool is = !seen[index];
    seen[index] = true;
    return is;
  };
  const auto read = [&](RowId row) {
    if (row != kNoRow && graph.rows[row].kind == RowKind::Constant && first(constant, row))
      ++least.constantRows;
  };
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (const RowId row : work.stages[stage]) {
      const Row &what = graph.rows[row];
      for (const rows::Term &term : work[row].terms) {
        least.weightBlocks += first(block, term.block);
        read(term.x);
      }
      std::ranges::for_each(what.a, read);
      read(what.b);
      read(what.c);
      if (what.start != kNoRow)
        ++least.preloadRows;
      else if (what.kind == RowKind::Linear && beginsWithPreload(what))
        biases.insert(bitsOfBias(what));
      if (what.step.table)
        tables.insert(*what.step.table);
    }
  least.preloadRows += biases.size();
  least.tables = tables.size();
  least.rows = rowsAtOnce(graph, work).size() + least.constantRows;
  return least;
}

bool fitsButForRows(const LeastMemory &least, const format::Geometry &geometry) {
  const uint64_t cores = geometry.cores;
  return least.inputRows + least.outputRows <= geometry.inboxRows &&
         least.constantRows <= cores * geometry.localRows &&
         least.weightBlocks <= cores * geometry.weightBlocks &&
         least.preloadRows <= cores * geometry.preloadRows &&
         least.tables <= cores * geometry.tables;
}

bool fits(const LeastMemory &least, const format::Geometry &geometry) {
  return fitsButForRows(least, geometry) &&
         least.rows <= geometry.inboxRows + uint64_t{geometry.cores} * geometry.localRows;
}

} // namespace sluice::plan
