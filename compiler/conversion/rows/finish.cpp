#include "compiler/conversion/rows/finish.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/conversion/row_graph.h"
#include "compiler/conversion/rows/steps.h"
#include "hw/numerics/numerics.h"

namespace sluice::rows {
namespace {

class SumMerger {
public:
  explicit SumMerger(Graph &graph) : graph(graph), uses(usesOf(graph)) {}

  /// Whether there was anything to merge.
  bool run() {
    bool changed = false;
    for (Row &row : graph.rows)
      if (row.kind == RowKind::Linear && !multipliesWritten(row)) {
        changed |= mergeFirst(row);
        changed |= mergeSecond(row);
      }
    return changed;
  }

private:
  Graph &graph;
  std::vector<uint32_t> uses;

  /// What the first arithmetic unit adds, unless the second unit reads the sum without it.
  bool mergeFirst(Row &row) {
    VectorStep &step = row.step;
    const bool readsB =
        step.alu2 == isa::Alu::Select || (step.alu2 != isa::Alu::Pass && step.rhs2 == isa::Rhs2::B);
    if (step.alu1 != isa::Alu::Add || step.rhs1 != isa::Rhs1::B || step.bBroadcast || step.bWide ||
        readsB || readsA(step) || !take(row, row.b))
      return false;
    step.alu1 = isa::Alu::Pass;
    return true;
  }

  /// What the second one adds, if nothing happens before.
  bool mergeSecond(Row &row) {
    VectorStep &step = row.step;
    if (step.alu1 != isa::Alu::Pass || step.table || step.reduce != isa::Reduce::None ||
        step.alu2 != isa::Alu::Add || step.rhs2 != isa::Rhs2::C || step.cBroadcast ||
        !take(row, row.c))
      return false;
    step.alu2 = isa::Alu::Pass;
    step.rhs2 = isa::Rhs2::C;
    return true;
  }

  [[nodiscard]] bool multipliesWritten(const Row &row) const {
    return std::ranges::any_of(
        row.terms, [&](const Term &term) { return graph.dynamic.contains(term.block); });
  }

  /// Adds the products of `operand` to those of the row, if they are all it is and nobody else
  /// reads it; a constant to its bias.
  bool take(Row &row, RowId &operand) {
    Row &other = graph.rows[operand];
    if (other.kind == RowKind::Constant) {
      std::vector<float> lanes = row.bias.lanes();
      lanes.resize(graph.geometry.lanes);
      for (size_t lane = 0; lane < lanes.size(); ++lane)
        lanes[lane] += static_cast<float>(numerics::bf16ToDouble(other.lanes[lane]));
      Bias bias(std::move(lanes));
      if (!bias.isFinite())
        return false; // no sum begins with it
      row.bias = std::move(bias);
      operand = kNoRow;
      return true;
    }
    if (other.kind != RowKind::Linear || other.step != VectorStep{} || uses[operand] != 1 ||
        multipliesWritten(other))
      return false;
    row.terms.insert(row.terms.end(), other.terms.begin(), other.terms.end());
    if (!other.bias.empty()) {
      std::vector<float> bias = row.bias.lanes();
      bias.resize(graph.geometry.lanes);
      for (size_t lane = 0; lane < bias.size(); ++lane)
        bias[lane] += other.bias[lane];
      row.bias = std::move(bias);
    }
    row.nodes = merged(row.nodes, other.nodes);
    other = Row{};
    operand = kNoRow;
    return true;
  }
};

} // namespace

bool mergeSums(Graph &graph) { return SumMerger(graph).run(); }

void fuseSteps(Graph &graph, const std::set<RowId> &merges) {
  const std::vector<uint32_t> uses = usesOf(graph);
  for (RowId id = 0; id < graph.rows.size(); ++id) {
    Row &row = graph.rows[id];
    if (row.kind != RowKind::Vector || row.a.size() != 1 || uses[row.a[0]] != 1 ||
        (merges.contains(id) && merges.contains(row.a[0])))
      continue;
    Row &before = graph.rows[row.a[0]];
    if (before.kind != RowKind::Linear &&
        (before.kind != RowKind::Vector || before.step.reduce != isa::Reduce::None))
      continue;
    // Two operations in one pass behind a row that is read anyway only lengthen the pass.
    const bool bothFirst = before.step.alu1 != isa::Alu::Pass && row.step.alu1 != isa::Alu::Pass;
    if (bothFirst && before.kind != RowKind::Linear)
      continue;
    const auto step = compose(before.step, row.step);
    if (!step)
      continue;
    row.kind = before.kind;
    row.terms = std::move(before.terms);
    row.bias = std::move(before.bias);
    row.a = std::move(before.a);
    row.b = before.b != kNoRow ? before.b : row.b;
    row.step = *step;
    row.nodes = merged(before.nodes, row.nodes);
    before = Row{};
  }
}

void nameParts(Graph &graph) {
  const std::vector<uint32_t> uses = usesOf(graph);
  for (RowId id = static_cast<RowId>(graph.rows.size()); id-- > 0;) {
    const Row &sum = graph.rows[id];
    if (!sum.elements.known())
      continue;
    const VectorStep &step = sum.step;
    const bool first = step.alu1 == isa::Alu::Add && step.rhs1 == isa::Rhs1::B && !step.bBroadcast;
    const bool second = step.alu2 == isa::Alu::Add && step.rhs2 == isa::Rhs2::C && !step.cBroadcast;
    const auto name = [&](RowId part) {
      Row &row = graph.rows[part];
      if (uses[part] == 1 && row.kind == RowKind::Linear && row.step == VectorStep{} &&
          !row.elements.known())
        row.elements = sum.elements.part();
    };
    if (first) {
      name(sum.b);
      std::ranges::for_each(sum.a, name);
    }
    if (second)
      name(sum.c);
  }
}

void compact(Graph &graph) {
  // Operands may be newer than a row (masks are added late), so rows are marked
  // by walking, not by their order.
  std::vector<bool> needed(graph.rows.size());
  std::vector<RowId> open;
  const auto need = [&](RowId id) {
    if (!needed[id])
      open.push_back(id);
    needed[id] = true;
  };
  for (const auto *ports : {&graph.inputs, &graph.outputs})
    for (const Port &port : *ports)
      std::for_each(port.rows.begin(), port.rows.end(), need);
  while (!open.empty()) {
    const RowId id = open.back();
    open.pop_back();
    for (const RowId operand : operandsOf(graph, graph.rows[id]))
      need(operand);
    if (graph.rows[id].kind == RowKind::State)
      need(graph.states[graph.rows[id].state].next);
  }
  const auto rank = [&](RowId id) {
    switch (graph.rows[id].kind) {
    case RowKind::Input:
      return 0;
    case RowKind::State:
      return 1;
    case RowKind::Constant:
      return 2;
    default:
      return 3;
    }
  };
  std::vector<RowId> order;
  for (RowId id = 0; id < graph.rows.size(); ++id)
    if (needed[id])
      order.push_back(id);
  std::sort(order.begin(), order.end(),
            [&](RowId a, RowId b) { return std::pair(rank(a), a) < std::pair(rank(b), b); });

  std::vector<RowId> number(graph.rows.size(), kNoRow);
  std::vector<Row> rows;
  std::vector<WeightBlock> blocks;
  std::map<uint32_t, DynamicBlock> dynamic;
  std::vector<format::TableImage> tables;
  std::map<uint32_t, uint32_t> blockNumbers, tableNumbers;
  uint32_t group = 0, lastGroup = 0;
  const auto renumber = [&](RowId &id) { id = id == kNoRow ? kNoRow : number[id]; };
  for (const RowId id : order) {
    Row row = std::move(graph.rows[id]);
    number[id] = static_cast<RowId>(rows.size());
    std::for_each(row.a.begin(), row.a.end(), renumber);
    renumber(row.b);
    renumber(row.c);
    for (Term &term : row.terms) {
      renumber(term.x);
      const auto [it, inserted] =
          blockNumbers.try_emplace(term.block, static_cast<uint32_t>(blocks.size()));
      if (inserted) {
        blocks.push_back(graph.blocks[term.block]);
        if (const auto found = graph.dynamic.find(term.block); found != graph.dynamic.end()) {
          DynamicBlock &moved = dynamic[it->second] = std::move(found->second);
          for (BlockWrite &write : moved.writes)
            renumber(write.row);
        }
      }
      term.block = it->second;
    }
    if (row.step.table) {
      const auto [it, inserted] =
          tableNumbers.try_emplace(*row.step.table, static_cast<uint32_t>(tables.size()));
      if (inserted) {
        tables.push_back(std::move(graph.tables[*row.step.table]));
        tables.back().table = it->second;
      }
      row.step.table = it->second;
    }
    // Inputs, states and constants are group 0, and nobody's work.
    if (rank(id) < 3) {
      row.group = 0;
      row.nodes.clear();
    } else {
      if (group == 0 || row.group != lastGroup)
        ++group;
      lastGroup = row.group;
      row.group = group;
    }
    rows.push_back(std::move(row));
  }
  for (auto *ports : {&graph.inputs, &graph.outputs})
    for (Port &port : *ports)
      std::for_each(port.rows.begin(), port.rows.end(), renumber);
  // A state that nobody reads is not kept.
  std::erase_if(graph.states, [&](const State &state) { return !needed[state.row]; });
  for (uint32_t i = 0; i < graph.states.size(); ++i) {
    renumber(graph.states[i].row);
    renumber(graph.states[i].next);
    rows[graph.states[i].row].state = i;
  }
  graph.rows = std::move(rows);
  graph.blocks = std::move(blocks);
  graph.dynamic = std::move(dynamic);
  graph.tables = std::move(tables);
}

} // namespace sluice::rows
