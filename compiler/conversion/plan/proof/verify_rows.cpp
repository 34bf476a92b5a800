#include "compiler/conversion/plan/proof/verify_rows.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "hw/numerics/latency.h"

namespace sluice::plan {

std::optional<std::string> RowProof::sum(uint32_t core, Accumulator &accumulator) {
  const Row &row = graph.rows[accumulator.row];
  std::vector<std::pair<RowId, uint32_t>> expected;
  for (const rows::Term &term : row.terms)
    if (!isZeroBlock(graph, term.block))
      expected.emplace_back(term.x, term.block);
  std::sort(expected.begin(), expected.end());
  std::sort(accumulator.products.begin(), accumulator.products.end());
  if (row.kind != RowKind::Linear || expected != accumulator.products)
    return fmt::format("row {} is the wrong sum of products", accumulator.row);
  const bool begins = beginsWithPreload(row);
  const std::vector<RowId> &preloads = placement.cores[core].preloads;
  const auto mayBegin = [&](RowId with) {
    return with == accumulator.row || sharePreload(graph.rows[with], row);
  };
  if (begins != (accumulator.init == isa::Init::Preload) ||
      (begins &&
       (accumulator.preload >= preloads.size() || !mayBegin(preloads[accumulator.preload]))))
    return fmt::format("row {} starts from the wrong bias", accumulator.row);
  return std::nullopt;
}

std::optional<std::string> RowProof::step(uint32_t core, const isa::Vec &vec, RowId id) const {
  const Row &row = graph.rows[id];
  const rows::VectorStep &step = row.step;
  const std::vector<uint32_t> &tables = placement.cores[core].tables;
  const bool table = step.table ? vec.tableEn != 0 && vec.tableId < tables.size() &&
                                      tables[vec.tableId] == *step.table
                                : vec.tableEn == 0;
  const bool same = table && vec.alu1 == step.alu1 && vec.rhs1 == step.rhs1 &&
                    vec.alu2 == step.alu2 && vec.rhs2 == step.rhs2 &&
                    vec.imm1 == std::bit_cast<uint32_t>(step.imm1) &&
                    vec.imm2 == std::bit_cast<uint32_t>(step.imm2) && vec.reduce == step.reduce &&
                    vec.post == step.post && (vec.bBcast != 0) == step.bBroadcast &&
                    (vec.cBcast != 0) == step.cBroadcast && (vec.bEn != 0) == (row.b != kNoRow) &&
                    (vec.cEn != 0) == (row.c != kNoRow || isWide(row.b)) &&
                    (vec.bWide != 0) == (step.bWide || isWide(row.b)) &&
                    isa::takesResult(vec) == (row.kind == RowKind::Linear) &&
                    vec.part == (!row.wide                       ? step.part
                                 : vec.aSrc == isa::Source::Peek ? isa::Part::High
                                                                 : isa::Part::Low);
  if (!same)
    return fmt::format("differs from the operation of row {}", id);
  return std::nullopt;
}

} // namespace sluice::plan
