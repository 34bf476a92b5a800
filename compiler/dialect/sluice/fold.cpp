// Folders: operations that do nothing, and selections of selections.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

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

OpFoldResult RotateOp::fold(FoldAdaptor) {
  if (llvm::all_of(getBy(), [](int64_t by) { return by == 0; }))
    return sameAs(getInput(), getResult());
  auto inner = getInput().getDefiningOp<RotateOp>();
  if (!inner)
    return {};
  llvm::SmallVector<int64_t> both;
  for (auto [axis, extent] : llvm::enumerate(shapeOf(getInput())))
    both.push_back((inner.getBy()[axis] + getBy()[axis]) % extent);
  setBy(both);
  getInputMutable().assign(inner.getInput());
  return getResult();
}

/// Tiles of tiles, repetitions of repetitions: counts multiply.
template <typename Op> static OpFoldResult foldRepeated(Op op) {
  if (auto same = sameAs(op.getInput(), op.getResult()))
    return same;
  auto inner = op.getInput().template getDefiningOp<Op>();
  if (!inner)
    return {};
  llvm::SmallVector<int64_t> counts;
  for (auto [outer, own] : llvm::zip_equal(op.getCounts(), inner.getCounts()))
    counts.push_back(outer * own);
  op.setCounts(counts);
  op.getInputMutable().assign(inner.getInput());
  return op.getResult();
}

OpFoldResult TileOp::fold(FoldAdaptor) { return foldRepeated(*this); }
OpFoldResult RepeatOp::fold(FoldAdaptor) { return foldRepeated(*this); }

OpFoldResult InterleaveOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? sameAs(getInputs().front(), getResult()) : OpFoldResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  // A border of nothing keeps the shape; any other changes it.
  return sameAs(getInput(), getResult());
}

/// Whether some element is outside the input along the i-th axis of a window.
static bool leaves(WindowOp window, size_t i) {
  const int64_t start = window.getStarts()[i];
  const int64_t last = start + (window.getCounts()[i] - 1) * window.getStrides()[i] +
                       (window.getSizes()[i] - 1) * window.getDilations()[i];
  return start < 0 || last >= shapeOf(window.getInput())[window.getAxes()[i]];
}

OpFoldResult WindowOp::fold(FoldAdaptor) {
  if (getAxes().empty())
    return sameAs(getInput(), getResult());
  // A border along the axes of the window is outside.
  auto border = getInput().getDefiningOp<PadOp>();
  if (!border)
    return {};
  bool seen = false; // what is outside the border
  llvm::SmallVector<int64_t> starts(getStarts());
  for (const size_t axis : llvm::seq<size_t>(0, border.getLow().size())) {
    const auto *along = llvm::find(getAxes(), axis);
    if (along == getAxes().end()) {
      if (border.getLow()[axis] != 0 || border.getHigh()[axis] != 0)
        return {};
      continue;
    }
    const auto i = along - getAxes().begin();
    starts[i] -= border.getLow()[axis];
    seen |= leaves(*this, i);
  }
  if (seen && border.getValue() != getValue())
    return {};
  setStarts(starts);
  setValueAttr(border.getValueAttr());
  getInputMutable().assign(border.getInput());
  return getResult();
}

namespace {

/// Some of the positions and elements of a window are a window.
struct SliceOfWindow : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp slice, PatternRewriter &rewriter) const override {
    auto inner = slice.getInput().getDefiningOp<WindowOp>();
    if (!inner)
      return failure();
    const ExtentsRef shape = shapeOf(inner.getResult());
    reference::Window window = inner.window();
    const size_t rank = shape.size() - window.axes.size();
    for (const size_t axis : llvm::seq<size_t>(0, shape.size())) {
      const int64_t start = slice.getStarts()[axis], size = slice.getSizes()[axis],
                    step = size > 1 ? slice.getSteps()[axis] : 1;
      if (start == 0 && size == shape[axis] && step == 1)
        continue;
      const bool isElement = axis >= rank;
      const auto along = isElement ? window.axes.begin() + (axis - rank)
                                   : llvm::find(window.axes, static_cast<int64_t>(axis));
      if (along == window.axes.end() || step < 1)
        return failure();
      const auto i = along - window.axes.begin();
      int64_t &distance = isElement ? window.dilations[i] : window.strides[i];
      window.starts[i] += start * distance;
      distance *= step;
      (isElement ? window.sizes : window.counts)[i] = size;
    }
    std::string why; // numbers that have become too large
    if (failed(inferWindow(shapeOf(inner.getInput()), window, why)))
      return failure();
    rewriter.replaceOpWithNewOp<WindowOp>(slice, slice.getType(), inner.getInput(), window.axes,
                                          window.sizes, window.counts, window.starts,
                                          window.strides, window.dilations, inner.getValue());
    return success();
  }
};

} // namespace

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfWindow>(context);
}

} // namespace sluice::ir
