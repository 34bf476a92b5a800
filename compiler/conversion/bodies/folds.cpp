#include "compiler/conversion/bodies/folds.h"

#include <fmt/format.h>

#include "llvm/ADT/STLExtras.h"

#include "compiler/dialect/sluice/node.h"

using namespace mlir;

namespace sluice::bodies {

std::optional<Problem> tooManySums(uint32_t rows, int64_t positions, Operation *first,
                                   const format::Geometry &geometry) {
  if (rows < geometry.accumulators)
    return std::nullopt;
  Problem problem;
  problem.code = "E0414";
  problem.message =
      fmt::format("sums over {} positions need {} accumulators on every core, available: {}",
                  positions, rows, geometry.accumulators - 1);
  if (const NodeRef node = ir::nodeOf(first->getLoc()); node.index >= 0)
    problem.node = node;
  problem.fixes.push_back(
      {"use a target with more accumulators or more lanes", std::nullopt, false, std::nullopt});
  return problem;
}

bool canFold(const rows::Graph &trip, const std::vector<rows::Write> &writes) {
  const auto readBy = [](const rows::Row &row, rows::RowId id) {
    return llvm::is_contained(row.a, id) || row.b == id || row.c == id ||
           llvm::any_of(row.terms, [&](const rows::Term &term) { return term.x == id; });
  };
  for (const auto &[port, write] : llvm::zip_equal(trip.outputs, writes))
    for (const rows::RowId id : port.rows)
      if (const rows::Row &row = trip.rows[id];
          write.fold == rows::Fold::Sum &&
          (row.kind != rows::RowKind::Linear || !row.bias.empty() ||
           !(row.step == rows::VectorStep{}) ||
           llvm::any_of(trip.rows, [&](const rows::Row &other) { return readBy(other, id); })))
        return false;
  return true;
}

} // namespace sluice::bodies
