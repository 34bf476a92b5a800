#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/view_patterns.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SLICESBEFOREPRODUCTS
#include "compiler/transforms/passes.h.inc"

namespace {

/// slice(x * w) becomes slice(x) * w.
void exchange(SliceOp slice) {
  Operation *product = slice.getInput().getDefiningOp();
  auto spaced = llvm::dyn_cast_if_present<IndexSpaceInterface>(product);
  if (!spaced || !slice.getInput().hasOneUse() || product->getNumOperands() != 2)
    return;
  OperandParts parts(spaced);
  const space::Projection &result = parts.space.results.front();
  const Value source = product->getOperand(0);
  if (parts.space.work != space::Work::Product || !dataDim(source) ||
      llvm::isa_and_nonnull<WindowOp>(source.getDefiningOp()))
    return;
  const Selection taken(slice);
  for (const size_t axis : llvm::seq(taken.rank())) {
    if (taken.isWhole(axis))
      continue;
    const auto loop = result.loopAlong(axis);
    const auto from = loop ? parts.space.operands[0].axisAlong(*loop) : std::nullopt;
    // Along the lanes a slice is work of its own.
    if (!from || taken.steps[axis] < 1 || dataDim(source) == *from ||
        dataDim(slice.getInput()) == axis || parts.space.operands[1].moves(*loop) ||
        !parts.take(axis, taken))
      return;
  }
  OpBuilder builder(slice);
  Operation *smaller =
      parts.compute(builder, fuseLocs(slice.getContext(), {product->getLoc(), slice.getLoc()}),
                    slice.getResult().getType());
  replaceOp(slice, smaller->getResult(0));
  product->erase();
}

struct SlicesBeforeProducts : impl::SlicesBeforeProductsBase<SlicesBeforeProducts> {
  void runOnOperation() override { getOperation()->walk(exchange); }
};

} // namespace
} // namespace sluice::ir
