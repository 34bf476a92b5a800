#include "compiler/conversion/rows/short_chains.h"

#include <algorithm>
#include <utility>

#include "compiler/conversion/row_graph.h"
#include "compiler/conversion/rows/steps.h"

namespace sluice::rows {
namespace {

/// Whether a step is the first arithmetic unit and nothing else.
bool isOneOperation(const VectorStep &step) {
  VectorStep rest = step;
  rest.alu1 = isa::Alu::Pass;
  rest.rhs1 = isa::Rhs1::B;
  rest.imm1 = 0;
  rest.bBroadcast = false;
  return step.alu1 != isa::Alu::Pass && rest == VectorStep{};
}

/// The table rounds what it looks up to bf16, as a row would be.
bool repeatOperation(Graph &graph, Row &row) {
  if (row.kind != RowKind::Vector || row.a.size() != 1 || !row.step.table ||
      row.step.alu1 != isa::Alu::Pass || row.b != kNoRow)
    return false;
  const Row &before = graph.rows[row.a[0]];
  if (before.kind != RowKind::Vector || before.a.size() != 1 || !isOneOperation(before.step))
    return false;
  const auto both = compose(before.step, row.step);
  if (!both)
    return false;
  row.step = *both;
  row.nodes = merged(before.nodes, row.nodes);
  row.b = before.b;
  row.a = std::vector<RowId>(before.a);
  return true;
}

/// A sum whose function is multiplied by another row.
bool isProductOfFunction(const Row &row) {
  const VectorStep &step = row.step;
  return row.kind == RowKind::Linear && step.alu1 == isa::Alu::Pass && step.table &&
         step.reduce == isa::Reduce::None && step.alu2 == isa::Alu::Mul &&
         step.rhs2 == isa::Rhs2::C && !step.cBroadcast && row.b == kNoRow;
}

/// A function behind an arithmetic operation, with the second unit free.
bool hasRoomForProduct(const Row &row) {
  const VectorStep &step = row.step;
  return row.kind == RowKind::Vector && step.alu1 != isa::Alu::Pass && step.table &&
         step.reduce == isa::Reduce::None && step.alu2 == isa::Alu::Pass &&
         step.post == isa::Post::None && row.c == kNoRow;
}

/// What a table gives is exact in bf16, so the product is the same in either row.
bool exchange(Graph &graph, Row &sum, const std::vector<uint32_t> &uses) {
  if (!isProductOfFunction(sum) || uses[sum.c] != 1)
    return false;
  const RowId place = sum.c;
  Row &factor = graph.rows[place];
  if (!hasRoomForProduct(factor) ||
      std::ranges::any_of(sum.terms, [&](const Term &term) { return term.x >= place; }))
    return false;
  std::swap(sum, factor); // each is now where the other one was
  Row &product = sum, &function = factor;
  product.step.alu2 = isa::Alu::Mul;
  product.step.rhs2 = isa::Rhs2::C;
  product.step.post = function.step.post;
  product.c = place;
  product.nodes = merged(product.nodes, function.nodes);
  function.step.alu2 = isa::Alu::Pass;
  function.step.post = isa::Post::None;
  function.c = kNoRow;
  std::swap(product.group, function.group);
  product.elements = function.elements;
  function.elements = {}; // not the factor that was there, and no product
  return true;
}

} // namespace

bool shortenChains(Graph &graph) {
  bool any = false;
  for (Row &row : graph.rows)
    any |= repeatOperation(graph, row);
  const std::vector<uint32_t> uses = usesOf(graph);
  for (Row &row : graph.rows)
    any |= exchange(graph, row, uses);
  return any;
}

} // namespace sluice::rows
