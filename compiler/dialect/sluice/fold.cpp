// Folders: operations that do nothing, and selections of selections.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace sluice::ir {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult sameAs(Value input, Value result) {
  return input.getType() == result.getType() ? OpFoldResult(input) : OpFoldResult();
}

OpFoldResult MapOp::fold(FoldAdaptor) {
  auto argument = llvm::dyn_cast<BlockArgument>(getBody().front().getTerminator()->getOperand(0));
  return argument ? sameAs(getInputs()[argument.getArgNumber()], getResult()) : OpFoldResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (isIdentityPermutation(getPermutation()))
    return sameAs(getInput(), getResult());
  auto inner = getInput().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  setPermutation(applyPermutation(inner.getPermutation(), getPermutation()));
  getInputMutable().assign(inner.getInput());
  return getResult();
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

/// Folds a view whose result depends on its shape and the elements alone, whatever is between them.
template <typename View> static OpFoldResult foldInto(View view) {
  if (auto same = sameAs(view.getInput(), view.getResult()))
    return same;
  auto inner = view.getInput().template getDefiningOp<View>();
  if (!inner)
    return {};
  view.getInputMutable().assign(inner.getInput());
  return view.getResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) { return foldInto(*this); }
OpFoldResult BroadcastOp::fold(FoldAdaptor) { return foldInto(*this); }

OpFoldResult SqueezeOp::fold(FoldAdaptor) {
  // Axes that were added and are removed again.
  auto added = getInput().getDefiningOp<UnsqueezeOp>();
  return added && added.getAxes() == getAxes() ? sameAs(added.getInput(), getResult())
                                               : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1)
    return sameAs(getInputs().front(), getResult());
  llvm::SmallVector<Value> inputs;
  for (const Value input : getInputs()) {
    auto inner = input.getDefiningOp<ConcatOp>();
    if (inner && inner.getAxis() == getAxis())
      llvm::append_range(inputs, inner.getInputs());
    else
      inputs.push_back(input);
  }
  if (inputs.size() == getInputs().size())
    return {};
  getInputsMutable().assign(inputs);
  return getResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  if (auto same = sameAs(getInput(), getResult()))
    return same;
  auto inner = getInput().getDefiningOp<PadOp>();
  if (!inner || inner.getValue() != getValue())
    return {};
  llvm::SmallVector<int64_t> low(getLow()), high(getHigh());
  for (const size_t axis : llvm::seq(low.size())) {
    low[axis] += inner.getLow()[axis];
    high[axis] += inner.getHigh()[axis];
  }
  setLow(low);
  setHigh(high);
  getInputMutable().assign(inner.getInput());
  return getResult();
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
