// What the rows of a graph are computed from, one after the other.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/conversion/plan/order/work.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

/// Calls `fn(operand, byMatrix)` for every operand of a row that is not there from the beginning
/// of an inference, as constants and states are. The vector unit reads the rows that become
/// weights.
template <typename Fn>
void forEachOperand(const rows::Graph &graph, const Work &work, rows::RowId row, Fn fn) {
  const rows::Row &what = graph.rows[row];
  const auto visit = [&](rows::RowId operand, bool byMatrix) {
    if (operand != rows::kNoRow && graph.rows[operand].kind != rows::RowKind::Constant &&
        graph.rows[operand].kind != rows::RowKind::State)
      fn(operand, byMatrix);
  };
  for (const rows::Term &term : work[row].terms) {
    visit(term.x, true);
    if (work.isDynamic[term.block])
      for (const rows::BlockWrite &write : graph.dynamic.at(term.block).writes)
        visit(write.row, false);
  }
  for (rows::RowId operand : what.a)
    visit(operand, false);
  visit(what.b, false);
  visit(what.c, false);
  visit(work[row].gate, what.kind == rows::RowKind::Linear);
}

/// The rows of a stage that the vector unit computes, and how often they read each operand.
struct VectorReads {
  uint32_t rows = 0;
  std::map<rows::RowId, uint32_t> operands;
};

inline VectorReads vectorReads(const rows::Graph &graph, const Work &work,
                               const std::vector<rows::RowId> &stage) {
  VectorReads reads;
  for (const rows::RowId row : stage)
    if (graph.rows[row].kind == rows::RowKind::Vector) {
      ++reads.rows;
      forEachOperand(graph, work, row,
                     [&](rows::RowId operand, bool) { ++reads.operands[operand]; });
    }
  return reads;
}

/// Calls `fn(operand)` for every row that the vector unit reads to compute a row, once each.
template <typename Fn> void forEachVectorOperand(const rows::Row &row, Fn fn) {
  std::for_each(row.a.begin(), row.a.end(), fn); // rows that are reduced over are distinct
  const auto isNew = [&](rows::RowId operand) {
    return operand != rows::kNoRow && std::ranges::find(row.a, operand) == row.a.end();
  };
  if (isNew(row.b))
    fn(row.b);
  if (isNew(row.c) && row.c != row.b)
    fn(row.c);
}

inline bool isState(const rows::Graph &graph, rows::RowId row) {
  return graph.rows[row].kind == rows::RowKind::State;
}

/// Calls `fn(state)` with the number in Graph::states of every state that a row's vector step
/// reads, once each.
template <typename Fn> void forEachState(const rows::Graph &graph, rows::RowId row, Fn fn) {
  forEachVectorOperand(graph.rows[row], [&](rows::RowId operand) {
    if (isState(graph, operand))
      fn(graph.rows[operand].state);
  });
}

} // namespace sluice::plan
