#include "compiler/conversion/plan/order/work.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "compiler/conversion/plan/order/operands.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

void markLive(const Graph &graph, Work &work) {
  std::vector<RowId> open;
  const auto mark = [&](RowId row) {
    if (!work.rows[row].live) {
      work.rows[row].live = true;
      open.push_back(row);
    }
  };
  uint32_t outRow = 0;
  for (const rows::Port &port : graph.outputs)
    for (RowId row : port.rows) {
      work.rows[row].output = true;
      work.rows[row].outRow = outRow++;
      mark(row);
    }
  while (!open.empty()) {
    const RowId row = open.back();
    open.pop_back();
    forEachOperand(graph, work, row, [&](RowId operand, bool) { mark(operand); });
    forEachState(graph, row, [&](uint32_t state) { mark(graph.states[state].next); });
    if (graph.rows[row].start != kNoRow)
      mark(graph.rows[row].start);
  }
}

void markAwaited(const Graph &graph, Work &work) {
  for (size_t stage = work.stages.size(); --stage > 0;)
    for (RowId row : work.stages[stage] | std::views::reverse) {
      work.rows[row].awaited |= work.rows[row].output;
      if (work.rows[row].awaited)
        forEachOperand(graph, work, row,
                       [&](RowId operand, bool) { work.rows[operand].awaited = true; });
    }
}

/// Disjoint sets of rows. A row that was never united with any, itself included, is in none.
class Sets {
public:
  explicit Sets(size_t rows) : parents(rows, kNoRow) {}

  void unite(RowId row, RowId other) {
    const RowId left = leaderOf(enter(row)), right = leaderOf(enter(other));
    parents[std::max(left, right)] = std::min(left, right);
  }

  /// One of the rows of its set; kNoRow if it is in none.
  RowId leaderOf(RowId row) {
    if (parents[row] == kNoRow)
      return kNoRow;
    for (; parents[row] != row; row = parents[row])
      parents[row] = parents[parents[row]];
    return row;
  }

private:
  std::vector<RowId> parents; ///< a leader is its own

  RowId enter(RowId row) {
    if (parents[row] == kNoRow)
      parents[row] = row;
    return row;
  }
};

/// Numbers the sets in the order of their first rows.
uint32_t number(Sets &sets, Work &work, uint32_t WorkRow::*field) {
  uint32_t count = 0;
  for (RowId row = 0; row < work.rows.size(); ++row) {
    const RowId leader = sets.leaderOf(row);
    if (leader == kNoRow)
      continue;
    uint32_t &of = work.rows[leader].*field;
    if (of == kNoHome)
      of = count++;
    work.rows[row].*field = of;
  }
  return count;
}

void findHomes(const Graph &graph, Work &work) {
  Sets homes(work.rows.size()), cells(work.rows.size());
  const auto tie = [&](RowId row, RowId other) {
    homes.unite(row, other);
    cells.unite(row, other);
  };
  for (RowId row = 0; row < graph.rows.size(); ++row) {
    if (!work.rows[row].live)
      continue;
    const Row &what = graph.rows[row];
    if (what.start != kNoRow)
      tie(row, what.start);
    forEachState(graph, row, [&](uint32_t state) { tie(row, graph.states[state].next); });
    forEachOperand(graph, work, row, [&](RowId operand, bool byMatrix) {
      const RowKind kind = graph.rows[operand].kind;
      if (!byMatrix && (kind == RowKind::Linear || kind == RowKind::Vector))
        cells.unite(row, operand);
    });
  }
  work.homes.resize(number(homes, work, &WorkRow::home));
  work.cells.resize(number(cells, work, &WorkRow::cell));
  for (const WorkRow &row : work.rows) {
    if (row.live && row.home != kNoHome)
      work.homes[row.home] += row.terms.size();
    if (row.live && row.cell != kNoHome)
      work.cells[row.cell] += row.terms.size();
  }
}

void findLate(const Graph &graph, Work &work) {
  std::vector<std::vector<RowId>> readers(graph.rows.size());
  std::vector<bool> isComposed(graph.rows.size()); // a vector step of a computed row is in it
  for (RowId row = 0; row < graph.rows.size(); ++row)
    if (work.rows[row].live)
      forEachOperand(graph, work, row, [&](RowId operand, bool byMatrix) {
        const RowKind kind = graph.rows[operand].kind;
        if (byMatrix || (kind != RowKind::Linear && kind != RowKind::Vector))
          return;
        readers[operand].push_back(row);
        isComposed[row] = true;
      });
  std::vector<bool> isLastBesideLonger(graph.rows.size());
  for (RowId row = 0; row < graph.rows.size(); ++row)
    if (isComposed[row] && readers[row].empty())
      forEachOperand(graph, work, row, [&](RowId operand, bool byMatrix) {
        if (!byMatrix && isComposed[operand])
          isLastBesideLonger[row] = true;
      });
  for (RowId row = 0; row < graph.rows.size(); ++row) {
    const Row &what = graph.rows[row];
    bool readsState = false;
    forEachState(graph, row, [&](uint32_t) { readsState = true; });
    work.rows[row].late =
        what.kind == RowKind::Linear && !what.wide && !readsState && !isComposed[row] &&
        !readers[row].empty() &&
        std::ranges::all_of(readers[row], [&](RowId reader) { return isLastBesideLonger[reader]; });
  }
}

} // namespace

bool isZeroBlock(const Graph &graph, uint32_t block) {
  return !graph.dynamic.contains(block) && graph.blocks[block].isZero();
}

Work analyse(const Graph &graph) {
  Work work;
  work.rows.resize(graph.rows.size());
  const RowId firstInput =
      graph.inputs.empty() || graph.inputs[0].rows.empty() ? kNoRow : graph.inputs[0].rows[0];

  std::vector<bool> isZero(graph.blocks.size());
  work.isDynamic.resize(graph.blocks.size());
  for (uint32_t block = 0; block < graph.blocks.size(); ++block)
    isZero[block] = graph.blocks[block].isZero();
  for (const auto &[block, dynamic] : graph.dynamic) {
    work.isDynamic[block] = true;
    isZero[block] = false;
  }
  // A stage is a group, or a part of it that depends on the rest.
  std::vector<uint32_t> depth(graph.rows.size(), 0);
  for (RowId row = 0; row < graph.rows.size(); ++row) {
    const Row &what = graph.rows[row];
    if (what.kind != RowKind::Linear && what.kind != RowKind::Vector)
      continue;
    for (const rows::Term &term : what.terms)
      if (!isZero[term.block])
        work.rows[row].terms.push_back(term);
    bool depends = std::ranges::any_of(
        work.rows[row].terms, [&](const rows::Term &term) { return work.isDynamic[term.block]; });
    forEachOperand(graph, work, row, [&](RowId operand, bool byMatrix) {
      const bool first = what.kind == RowKind::Vector || byMatrix;
      depends |= first;
      const Row &from = graph.rows[operand];
      if (from.wide) // part of the same sum
        depth[row] = std::max(depth[row], depth[operand]);
      else if (from.kind != RowKind::Input && from.group == what.group)
        depth[row] = std::max(depth[row], depth[operand] + 1);
    });
    if (!depends)
      work.rows[row].gate = firstInput;
  }
  markLive(graph, work);
  work.sumsAhead = std::ranges::any_of(graph.rows, &Row::ahead);
  findHomes(graph, work);
  findLate(graph, work);

  std::map<std::pair<uint32_t, uint32_t>, std::vector<RowId>> stages;
  for (RowId row = 0; row < graph.rows.size(); ++row)
    if (work.rows[row].live &&
        (graph.rows[row].kind == RowKind::Linear || graph.rows[row].kind == RowKind::Vector))
      stages[{graph.rows[row].group, depth[row]}].push_back(row);
  work.stages.emplace_back();
  for (const rows::Port &port : graph.inputs)
    work.stages[0].insert(work.stages[0].end(), port.rows.begin(), port.rows.end());
  // Partial sums first, so that they are there when the rows need them.
  const auto turn = [&](RowId row) {
    const Row &what = graph.rows[row];
    return what.wide ? 0 : what.b != kNoRow && graph.rows[what.b].wide ? 1 : 2;
  };
  work.beats = work.stages[0].size();
  for (auto &[key, members] : stages) {
    std::sort(members.begin(), members.end(), [&](RowId left, RowId right) {
      return std::pair(turn(left), left) < std::pair(turn(right), right);
    });
    for (RowId row : members) {
      work.rows[row].stage = static_cast<uint32_t>(work.stages.size());
      work.beats += work.rows[row].terms.size() + std::max<size_t>(graph.rows[row].a.size(), 1);
    }
    work.stages.push_back(std::move(members));
  }
  markAwaited(graph, work);
  return work;
}

} // namespace sluice::plan
