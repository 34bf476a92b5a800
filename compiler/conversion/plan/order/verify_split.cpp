#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/conversion/plan/order/split_contractions.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

/// Whether the same rows are written to a block, or none.
bool sameWrites(const std::map<uint32_t, rows::DynamicBlock> &left,
                const std::map<uint32_t, rows::DynamicBlock> &right, uint32_t block) {
  const auto l = left.find(block), r = right.find(block);
  if (l == left.end() || r == right.end())
    return l == left.end() && r == right.end();
  return l->second.columns == r->second.columns && l->second.writes == r->second.writes;
}

} // namespace

std::optional<std::string> verifySplit(const Graph &graph, const Graph &split) {
  std::vector<RowId> original(split.rows.size(), kNoRow); // by row of `split`
  RowId next = 0;
  for (RowId id = 0; id < split.rows.size(); ++id) {
    if (split.rows[id].wide)
      continue;
    if (next == graph.rows.size())
      return "there are more rows than before the split";
    original[id] = next++;
  }
  if (next != graph.rows.size())
    return "there are fewer rows than before the split";
  using Terms = std::multiset<std::pair<RowId, uint32_t>>;
  const auto add = [&](Terms &to, const Row &row, bool rename) {
    for (const rows::Term &term : row.terms)
      if (!isZeroBlock(graph, term.block))
        to.emplace(rename ? original[term.x] : term.x, term.block);
  };
  for (RowId id = 0; id < split.rows.size(); ++id) {
    Row row = split.rows[id];
    if (row.wide) {
      rows::VectorStep sum; // of products, and a row if it has one
      sum.alu1 = row.b != kNoRow ? isa::Alu::Add : isa::Alu::Pass;
      sum.bBroadcast = row.step.bBroadcast;
      if (row.kind != RowKind::Linear || row.step != sum || row.c != kNoRow || !row.bias.empty())
        return fmt::format("part {} is not a plain sum", id);
      continue;
    }
    const Row &before = graph.rows[original[id]];
    Terms now, then;
    add(now, row, true);
    add(then, before, false);
    if (const std::vector<RowId> parts = rows::partsOfSum(split, row); !parts.empty()) {
      if (row.kind != RowKind::Linear || row.step.alu1 != isa::Alu::Add ||
          row.step.rhs1 != isa::Rhs1::B || row.c != kNoRow)
        return fmt::format("row {} does not add its second part", original[id]);
      for (const RowId part : parts)
        add(now, split.rows[part], true);
      const Row &part = split.rows[parts.back()];
      row.step.alu1 = part.step.alu1;
      row.step.rhs1 = before.step.rhs1;
      row.step.bBroadcast = part.step.bBroadcast;
      row.b = part.b;
    }
    for (RowId &operand : row.a)
      operand = original[operand];
    for (RowId *operand : {&row.b, &row.c})
      if (*operand != kNoRow)
        *operand = original[*operand];
    const RowId start = row.start == kNoRow ? kNoRow : original[row.start];
    if (now != then || row.kind != before.kind || start != before.start ||
        row.ahead != before.ahead || row.step != before.step || row.bias != before.bias ||
        row.a != before.a || row.b != before.b || row.c != before.c)
      return fmt::format("row {} has changed", original[id]);
  }
  for (const auto &[now, then] :
       {std::pair(&split.inputs, &graph.inputs), std::pair(&split.outputs, &graph.outputs)})
    for (size_t port = 0; port < then->size(); ++port)
      for (size_t i = 0; i < (*then)[port].rows.size(); ++i)
        if (original[(*now)[port].rows[i]] != (*then)[port].rows[i])
          return fmt::format("row {} of port {} has changed", i, port);
  for (size_t i = 0; i < graph.states.size(); ++i)
    if (original[split.states[i].row] != graph.states[i].row ||
        original[split.states[i].next] != graph.states[i].next)
      return fmt::format("state {} has changed", i);
  std::map<uint32_t, rows::DynamicBlock> written = split.dynamic;
  for (auto &[block, dynamic] : written)
    for (rows::BlockWrite &write : dynamic.writes)
      write.row = original[write.row];
  for (uint32_t block = 0; block < graph.blocks.size(); ++block)
    if (!sameWrites(written, graph.dynamic, block))
      return fmt::format("the rows written to block {} have changed", block);
  return std::nullopt;
}

} // namespace sluice::plan
