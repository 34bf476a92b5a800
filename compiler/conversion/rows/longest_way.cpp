#include "compiler/conversion/rows/longest_way.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "hw/numerics/latency.h"

namespace sluice::rows {
namespace {

bool isComputed(const Row &row) {
  return row.kind == RowKind::Linear || row.kind == RowKind::Vector;
}

/// Calls `fn(operand, cycles)` for the computed rows that a row reads, with the cycles from there
/// to the row's own step of the vector unit.
template <typename Fn> void forEachOperand(const Graph &graph, const Row &row, Fn fn) {
  const auto visit = [&](RowId operand, unsigned cycles) {
    if (operand != kNoRow && isComputed(graph.rows[operand]))
      fn(operand, cycles);
  };
  const unsigned product = graph.geometry.latencies().result();
  for (const Term &term : row.terms) {
    visit(term.x, product);
    if (const auto dynamic = graph.dynamic.find(term.block); dynamic != graph.dynamic.end())
      for (const BlockWrite &write : dynamic->second.writes)
        visit(write.row, product);
  }
  for (const RowId a : row.a)
    visit(a, 0);
  visit(row.b, 0);
  visit(row.c, 0);
}

/// Cycles of a row's step of the vector unit.
unsigned stepLatency(const Graph &graph, const Row &row) {
  const VectorStep &step = row.step;
  const unsigned path = isa::vectorPath(step.alu1, step.table.has_value(), step.reduce, step.alu2);
  return graph.geometry.latencies().vector(path);
}

/// The rows of one operation.
struct Group {
  uint32_t number = 0; ///< in the graph
  std::vector<RowId> rows;
  std::set<size_t> readers; ///< groups
  size_t missing = 0;       ///< groups that it reads and that have no place yet
  uint64_t front = 0;       ///< most cycles from an input to a row
  uint64_t behind = 0;      ///< most cycles from a row's step to an output
};

std::vector<Group> groupsOf(const Graph &graph) {
  std::map<uint32_t, size_t> places;
  for (const Row &row : graph.rows)
    if (isComputed(row))
      places.try_emplace(row.group);
  std::vector<Group> groups;
  for (auto &[number, place] : places) {
    place = groups.size();
    groups.emplace_back().number = number;
  }
  std::vector<uint64_t> front(graph.rows.size()), behind(graph.rows.size());
  for (RowId id = 0; id < graph.rows.size(); ++id) {
    const Row &row = graph.rows[id];
    if (!isComputed(row))
      continue;
    const size_t own = places.at(row.group);
    groups[own].rows.push_back(id);
    forEachOperand(graph, row, [&](RowId operand, unsigned cycles) {
      front[id] = std::max(front[id], front[operand] + cycles);
      const size_t from = places.at(graph.rows[operand].group);
      if (from != own && groups[from].readers.insert(own).second)
        ++groups[own].missing;
    });
    front[id] += stepLatency(graph, row);
    groups[own].front = std::max(groups[own].front, front[id]);
  }
  for (RowId id = static_cast<RowId>(graph.rows.size()); id-- > 0;) {
    const Row &row = graph.rows[id];
    if (!isComputed(row))
      continue;
    behind[id] += stepLatency(graph, row);
    Group &group = groups[places.at(row.group)];
    group.behind = std::max(group.behind, behind[id]);
    forEachOperand(graph, row, [&](RowId operand, unsigned cycles) {
      behind[operand] = std::max(behind[operand], behind[id] + cycles);
    });
  }
  return groups;
}

/// The graph with its rows in the order of `rows`, which are renumbered.
Graph permuted(const Graph &graph, const std::vector<RowId> &rows) {
  std::vector<RowId> now(graph.rows.size());
  for (RowId id = 0; id < rows.size(); ++id)
    now[rows[id]] = id;
  const auto renumber = [&](RowId &row) {
    if (row != kNoRow)
      row = now[row];
  };
  Graph other = graph;
  for (RowId id = 0; id < rows.size(); ++id) {
    Row &row = other.rows[id] = graph.rows[rows[id]];
    for (Term &term : row.terms)
      renumber(term.x);
    std::ranges::for_each(row.a, renumber);
    renumber(row.b);
    renumber(row.c);
    renumber(row.start);
  }
  for (auto &[block, dynamic] : other.dynamic)
    for (BlockWrite &write : dynamic.writes)
      renumber(write.row);
  for (auto *ports : {&other.inputs, &other.outputs})
    for (Port &port : *ports)
      std::ranges::for_each(port.rows, renumber);
  return other;
}

} // namespace

std::optional<Graph> longestWayFirst(const Graph &graph) {
  if (!graph.states.empty())
    return std::nullopt;
  std::vector<Group> groups = groupsOf(graph);
  const auto isBefore = [&](size_t left, size_t right) {
    const Group &one = groups[left], &other = groups[right];
    return std::tuple(other.behind, one.front, left) < std::tuple(one.behind, other.front, right);
  };
  std::set<size_t, decltype(isBefore)> open(isBefore);
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i].missing == 0)
      open.insert(i);
  std::vector<size_t> order;
  while (!open.empty()) {
    order.push_back(*open.begin());
    open.erase(open.begin());
    for (const size_t reader : groups[order.back()].readers)
      if (--groups[reader].missing == 0)
        open.insert(reader);
  }
  if (order.size() != groups.size() || std::ranges::is_sorted(order))
    return std::nullopt;
  std::vector<RowId> rows;
  for (RowId id = 0; id < graph.rows.size(); ++id)
    if (!isComputed(graph.rows[id]))
      rows.push_back(id);
  for (const size_t group : order)
    rows.insert(rows.end(), groups[group].rows.begin(), groups[group].rows.end());
  Graph other = permuted(graph, rows);
  size_t at = rows.size();
  for (size_t i = order.size(); i-- > 0;)
    for (size_t k = groups[order[i]].rows.size(); k-- > 0;)
      other.rows[--at].group = groups[i].number; // groups[i] are numbered in ascending order
  return other;
}

} // namespace sluice::rows
