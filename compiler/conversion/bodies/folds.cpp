#include "compiler/conversion/bodies/folds.h"

#include <fmt/format.h>

#include "llvm/ADT/STLExtras.h"

#include "compiler/dialect/sluice/node.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace sluice::bodies {

/// Means are divided at the end.
static ir::Monoid monoidOf(ir::ReduceOp op) {
  return op.getMonoid() == ir::Monoid::Mean ? ir::Monoid::Sum : op.getMonoid();
}

std::optional<rows::Fold> foldOf(ir::ReduceOp reduce, const Cut &cut) {
  if (!llvm::is_contained(reduce.getAxes(), cut.axis))
    return std::nullopt;
  switch (reduce.getMonoid()) {
  case ir::Monoid::Sum:
  case ir::Monoid::Mean:
    return rows::Fold::Sum;
  case ir::Monoid::Max:
    return rows::Fold::Max;
  case ir::Monoid::Min:
    return rows::Fold::Min;
  case ir::Monoid::Product:
    return rows::Fold::Product;
  default: // of parts alone the result does not follow
    return std::nullopt;
  }
}

Value makePart(OpBuilder &builder, ir::ReduceOp reduce, Value block) {
  return builder.create<ir::ReduceOp>(reduce.getLoc(), reduce.getType(), monoidOf(reduce), block,
                                      reduce.getAxes(), reduce.getKeepdims());
}

Value mergeParts(OpBuilder &builder, ir::ReduceOp reduce, Value parts) {
  const RankedTensorType type = reduce.getType();
  // A tensor of rank 0 is carried as one of rank 1.
  llvm::SmallVector<int64_t, 2> axes{0};
  if (type.getRank() == 0)
    axes.push_back(1);
  auto merged = builder.create<ir::ReduceOp>(reduce.getLoc(), type, monoidOf(reduce), parts, axes,
                                             /*keepdims=*/false);
  if (reduce.getMonoid() != ir::Monoid::Mean)
    return merged.getResult();
  const auto whole = ir::typeOf(reduce.getInput());
  const double share =
      static_cast<double>(type.getNumElements()) / static_cast<double>(whole.getNumElements());
  auto mean =
      builder.create<ir::MapOp>(reduce.getLoc(), ValueRange{merged.getResult()},
                                [&](OpBuilder &body, Location where, ValueRange sum) -> Value {
                                  const Value factor = body.create<arith::ConstantOp>(
                                      where, body.getF32FloatAttr(static_cast<float>(share)));
                                  return body.create<arith::MulFOp>(where, sum[0], factor);
                                });
  mean.getResult().setType(type);
  return mean.getResult();
}

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
