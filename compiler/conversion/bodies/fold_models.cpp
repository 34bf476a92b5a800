// Reductions of tiles that come one by one: a partial result of each, and then the result of all.
#include "compiler/conversion/bodies/cut.h"

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

#include "compiler/conversion/bodies/interface.cpp.inc"

namespace sluice::bodies {
namespace {

struct Reduce : FoldInterface::ExternalModel<Reduce, ir::ReduceOp> {
  std::optional<rows::Fold> foldOf(Operation *op, const Cut &cut) const {
    auto reduce = llvm::cast<ir::ReduceOp>(op);
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
  /// Means are divided at the end.
  static ir::Monoid monoidOf(ir::ReduceOp op) {
    return op.getMonoid() == ir::Monoid::Mean ? ir::Monoid::Sum : op.getMonoid();
  }
  Value makePart(Operation *op, OpBuilder &builder, Value block) const {
    auto reduce = llvm::cast<ir::ReduceOp>(op);
    return builder.create<ir::ReduceOp>(op->getLoc(), reduce.getType(), monoidOf(reduce), block,
                                        reduce.getAxes(), reduce.getKeepdims());
  }
  Value mergeParts(Operation *op, OpBuilder &builder, Value parts) const {
    auto reduce = llvm::cast<ir::ReduceOp>(op);
    const RankedTensorType type = reduce.getType();
    // A tensor of rank 0 is carried as one of rank 1.
    llvm::SmallVector<int64_t, 2> axes{0};
    if (type.getRank() == 0)
      axes.push_back(1);
    auto merged = builder.create<ir::ReduceOp>(op->getLoc(), type, monoidOf(reduce), parts, axes,
                                               /*keepdims=*/false);
    if (reduce.getMonoid() != ir::Monoid::Mean)
      return merged.getResult();
    const auto whole = llvm::cast<RankedTensorType>(reduce.getInput().getType());
    const double share =
        static_cast<double>(type.getNumElements()) / static_cast<double>(whole.getNumElements());
    auto mean =
        builder.create<ir::MapOp>(op->getLoc(), ValueRange{merged.getResult()},
                                  [&](OpBuilder &body, Location where, ValueRange sum) -> Value {
                                    const Value factor = body.create<arith::ConstantOp>(
                                        where, body.getF32FloatAttr(static_cast<float>(share)));
                                    return body.create<arith::MulFOp>(where, sum[0], factor);
                                  });
    mean.getResult().setType(type);
    return mean.getResult();
  }
};

} // namespace

void registerFoldModels(MLIRContext &context) {
  context.loadDialect<ir::SluiceDialect>();
  ir::ReduceOp::attachInterface<Reduce>(context);
}

} // namespace sluice::bodies
