// Folders: operations that do nothing, and selections of selections.
#include "compiler/dialect/sluice/operations.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

/// The input where an operation keeps it as it is, type included.
static OpFoldResult sameAs(Value input, Value result) {
  return input.getType() == result.getType() ? OpFoldResult(input) : OpFoldResult();
}

OpFoldResult MapOp::fold(FoldAdaptor) {
  auto argument = llvm::dyn_cast<BlockArgument>(getBody().front().getTerminator()->getOperand(0));
  return argument ? sameAs(getInputs()[argument.getArgNumber()], getResult()) : OpFoldResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size())))
    return sameAs(getInput(), getResult());
  auto inner = getInput().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  llvm::SmallVector<int64_t> composed;
  for (int64_t axis : getPermutation())
    composed.push_back(inner.getPermutation()[axis]);
  setPermutation(composed);
  getInputMutable().assign(inner.getInput());
  return getResult();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  auto extents = shapeOf(getInput());
  if (llvm::all_of(getAxes(), [&](int64_t axis) { return extents[axis] == 1; }))
    return sameAs(getInput(), getResult());
  auto inner = getInput().getDefiningOp<ReverseOp>();
  return inner && inner.getAxes() == getAxes() ? sameAs(inner.getInput(), getResult())
                                               : OpFoldResult();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // Same extents and only forward steps: everything, in order.
  if (getSizes() == shapeOf(getInput()) &&
      llvm::all_of(getStarts(), [](int64_t start) { return start == 0; }))
    return sameAs(getInput(), getResult());
  auto inner = getInput().getDefiningOp<SliceOp>();
  if (!inner)
    return {};
  llvm::SmallVector<int64_t> starts, steps;
  for (size_t axis = 0; axis < getStarts().size(); ++axis) {
    starts.push_back(inner.getStarts()[axis] + getStarts()[axis] * inner.getSteps()[axis]);
    steps.push_back(inner.getSteps()[axis] * getSteps()[axis]);
  }
  setStarts(starts);
  setSteps(steps);
  getInputMutable().assign(inner.getInput());
  return getResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (auto same = sameAs(getInput(), getResult()))
    return same;
  auto inner = getInput().getDefiningOp<ReshapeOp>();
  if (!inner)
    return {};
  getInputMutable().assign(inner.getInput());
  return getResult();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) { return sameAs(getInput(), getResult()); }

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? sameAs(getInputs().front(), getResult()) : OpFoldResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  // A border of nothing keeps the shape; any other changes it.
  return sameAs(getInput(), getResult());
}

} // namespace sluice::ir
