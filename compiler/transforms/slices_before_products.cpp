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

struct SlicesBeforeProducts : impl::SlicesBeforeProductsBase<SlicesBeforeProducts> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getFunctionBody().front()))
      if (auto slice = llvm::dyn_cast<SliceOp>(op))
        exchange(slice);
  }

private:
  /// slice(x * w) becomes slice(x) * w.
  static void exchange(SliceOp slice) {
    Operation *product = slice.getInput().getDefiningOp();
    auto spaced = llvm::dyn_cast_if_present<IndexSpaceInterface>(product);
    if (!spaced || !slice.getInput().hasOneUse() || product->getNumOperands() != 2)
      return;
    const space::IndexSpace space = spaced.indexSpace();
    const Value source = product->getOperand(0);
    if (space.work != space::Work::Product || !dataDim(source) ||
        llvm::isa_and_nonnull<WindowOp>(source.getDefiningOp()))
      return;
    llvm::SmallVector<int64_t, 4> sizes(shapeOf(source)), starts(sizes.size(), 0),
        steps(sizes.size(), 1);
    const auto shape = shapeOf(slice.getInput());
    for (unsigned axis = 0; axis < shape.size(); ++axis) {
      if (slice.getSizes()[axis] == shape[axis] && slice.getSteps()[axis] == 1)
        continue;
      const auto from = axisOf(space, axis);
      // Along the lanes a slice is work of its own.
      if (!from || slice.getSteps()[axis] < 1 || dataDim(source) == *from ||
          dataDim(slice.getInput()) == axis)
        return;
      starts[*from] = slice.getStarts()[axis];
      sizes[*from] = slice.getSizes()[axis];
      steps[*from] = slice.getSteps()[axis];
    }
    OpBuilder builder(slice);
    const Value part = sliced(builder, slice.getLoc(), source, starts, sizes, steps);
    Operation *smaller = builder.clone(*product);
    smaller->setOperand(0, part);
    smaller->setLoc(fuseLocs(slice.getContext(), {product->getLoc(), slice.getLoc()}));
    smaller->getResult(0).setType(slice.getResult().getType());
    forgetModelTensor(smaller);
    keepModelTensor(slice.getResult(), smaller->getResult(0));
    slice.getResult().replaceAllUsesWith(smaller->getResult(0));
    slice.erase();
    product->erase();
  }

  /// The axis of the first operand that runs along an axis of the result, if the other operand
  /// knows nothing of it.
  static std::optional<unsigned> axisOf(const space::IndexSpace &space, unsigned axis) {
    const space::Projection &result = space.results.front(), &source = space.operands[0];
    const auto loop = result.loopAlong(axis);
    if (!loop || space.operands[1].moves(*loop))
      return std::nullopt;
    for (unsigned from = 0; from < source.rank(); ++from)
      if (source.loopAlong(from) == loop && source.tensor[from] == result.tensor[axis])
        return from;
    return std::nullopt;
  }
};

} // namespace
} // namespace sluice::ir
