#include "compiler/conversion/rows/steps.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/conversion/row_graph.h"

namespace sluice::rows {

bool usesB(const VectorStep &step) {
  return (step.alu1 != isa::Alu::Pass && step.rhs1 == isa::Rhs1::B) ||
         (step.alu2 != isa::Alu::Pass && step.rhs2 == isa::Rhs2::B) ||
         step.alu2 == isa::Alu::Select;
}

bool usesC(const VectorStep &step) {
  return step.alu2 == isa::Alu::Select ||
         (step.alu2 != isa::Alu::Pass && step.rhs2 == isa::Rhs2::C);
}

bool readsA(const VectorStep &step) {
  return step.alu2 != isa::Alu::Pass && step.alu2 != isa::Alu::Select && step.rhs2 == isa::Rhs2::A;
}

std::vector<RowId> operandsOf(const Graph &graph, const Row &row) {
  std::vector<RowId> operands = row.a;
  for (const Term &term : row.terms) {
    operands.push_back(term.x);
    if (const auto dynamic = graph.dynamic.find(term.block); dynamic != graph.dynamic.end())
      for (const BlockWrite &write : dynamic->second.writes)
        operands.push_back(write.row);
  }
  for (const RowId id : {row.b, row.c})
    if (id != kNoRow)
      operands.push_back(id);
  return operands;
}

namespace {

/// Returns the same step with its first operation in the second unit, which must be free.
std::optional<VectorStep> inSecondUnit(const VectorStep &step) {
  if (step.alu1 == isa::Alu::Pass)
    return step;
  if (step.alu2 != isa::Alu::Pass || step.table || step.reduce != isa::Reduce::None ||
      step.rhs1 == isa::Rhs1::A)
    return std::nullopt;
  VectorStep moved = step;
  moved.alu2 = std::exchange(moved.alu1, isa::Alu::Pass);
  moved.rhs2 =
      std::exchange(moved.rhs1, isa::Rhs1::B) == isa::Rhs1::Imm ? isa::Rhs2::Imm : isa::Rhs2::B;
  moved.imm2 = std::exchange(moved.imm1, 0);
  return moved;
}

} // namespace

std::optional<VectorStep> compose(const VectorStep &first, const VectorStep &step) {
  if (step.reduce != isa::Reduce::None)
    return std::nullopt;
  if (first == VectorStep{})
    return step;
  const auto moved = inSecondUnit(step);
  if (!moved)
    return std::nullopt;
  const VectorStep &second = *moved;
  // Only the first arithmetic unit is taken, and the second step leaves it free
  // and does not look at its own operand a.
  VectorStep onlyAlu1 = first;
  onlyAlu1.alu1 = isa::Alu::Pass;
  onlyAlu1.rhs1 = isa::Rhs1::B;
  onlyAlu1.imm1 = 0;
  onlyAlu1.bBroadcast = false;
  if (onlyAlu1 != VectorStep{} || second.alu1 != isa::Alu::Pass || readsA(second) ||
      (usesB(first) && usesB(second)))
    return std::nullopt;
  VectorStep both = second;
  both.alu1 = first.alu1;
  both.rhs1 = first.rhs1;
  both.imm1 = first.imm1;
  both.bBroadcast = first.bBroadcast || second.bBroadcast;
  return both;
}

std::vector<uint32_t> usesOf(const Graph &graph) {
  std::vector<uint32_t> uses(graph.rows.size());
  for (const Row &row : graph.rows)
    for (const RowId id : operandsOf(graph, row))
      ++uses[id];
  for (const Port &port : graph.outputs)
    for (const RowId id : port.rows)
      ++uses[id];
  for (const State &state : graph.states)
    ++uses[state.next];
  return uses;
}

std::vector<uint32_t> merged(const std::vector<uint32_t> &left,
                             const std::vector<uint32_t> &right) {
  std::vector<uint32_t> both;
  std::ranges::set_union(left, right, std::back_inserter(both));
  return both;
}

} // namespace sluice::rows
