#include "compiler/conversion/plan/order/split_reductions.h"

#include <utility>

#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

using rows::kNoRow;
using rows::Row;
using rows::RowId;

class ReductionSplitter {
public:
  explicit ReductionSplitter(rows::Graph from) : graph(std::move(from)) {}

  rows::Graph run() {
    std::vector<Row> old = std::exchange(graph.rows, {});
    renamed.resize(old.size(), kNoRow);
    for (RowId id = 0; id < old.size(); ++id) {
      Row row = std::move(old[id]);
      rename(row);
      if (row.a.size() > 1)
        split(row);
      renamed[id] = add(std::move(row));
    }
    for (auto &[block, dynamic] : graph.dynamic)
      for (rows::BlockWrite &write : dynamic.writes)
        write.row = renamed[write.row];
    for (std::vector<rows::Port> *ports : {&graph.inputs, &graph.outputs})
      for (rows::Port &port : *ports)
        for (RowId &row : port.rows)
          row = renamed[row];
    for (rows::State &state : graph.states) {
      state.row = renamed[state.row];
      state.next = renamed[state.next];
    }
    return std::move(graph);
  }

private:
  rows::Graph graph;
  std::vector<RowId> renamed; ///< by old row

  RowId add(Row row) {
    graph.rows.push_back(std::move(row));
    return static_cast<RowId>(graph.rows.size() - 1);
  }

  void rename(Row &row) const {
    for (rows::Term &term : row.terms)
      term.x = renamed[term.x];
    for (RowId &operand : row.a)
      operand = renamed[operand];
    for (RowId *operand : {&row.b, &row.c})
      if (*operand != kNoRow)
        *operand = renamed[*operand];
  }

  /// A row of the same operation on one operand.
  Row part(const Row &row, RowId a) const {
    Row result;
    result.kind = rows::RowKind::Vector;
    result.group = row.group;
    result.nodes = row.nodes;
    result.a = {a};
    return result;
  }

  /// What comes before the reduction happens row by row, then maxima of pairs,
  /// then the reduction of one row. Maxima of rounded values are rounded maxima.
  void split(Row &row) {
    std::vector<RowId> values = row.a;
    if (row.step.alu1 != isa::Alu::Pass || row.step.table) {
      for (RowId &value : values) {
        Row first = part(row, value);
        first.b = row.b;
        first.step.alu1 = row.step.alu1;
        first.step.rhs1 = row.step.rhs1;
        first.step.imm1 = row.step.imm1;
        first.step.bBroadcast = row.step.bBroadcast;
        first.step.table = row.step.table;
        value = add(std::move(first));
      }
      row.step.alu1 = isa::Alu::Pass;
      row.step.table.reset();
    }
    while (values.size() > 1) {
      std::vector<RowId> merged;
      for (size_t i = 0; i + 1 < values.size(); i += 2) {
        Row pair = part(row, values[i]);
        pair.b = values[i + 1];
        pair.step.alu1 = isa::Alu::Max;
        merged.push_back(add(std::move(pair)));
      }
      if (values.size() % 2 != 0)
        merged.push_back(values.back());
      values = std::move(merged);
    }
    row.a = values;
  }
};

} // namespace

rows::Graph splitReductions(const rows::Graph &graph) { return ReductionSplitter(graph).run(); }

} // namespace sluice::plan
