// Slices of products move to their weights, and windows are taken apart by phases.
#include "compiler/transforms/view_patterns.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using space::Extents;

RankedTensorType typeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

/// The operation that multiplies two operands, or null.
IndexSpaceInterface productOf(Operation *op) {
  auto spaced = llvm::dyn_cast_if_present<IndexSpaceInterface>(op);
  return spaced && op->getNumOperands() == 2 && spaced.indexSpace().work == space::Work::Product
             ? spaced
             : nullptr;
}

/// slice(x * w) of some features is x * slice(w), where nobody else reads the product: what nobody
/// reads is not multiplied, and along the lanes nothing is moved. What it takes along other axes is
/// taken behind the product.
struct SliceOfProduct : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp slice, PatternRewriter &rewriter) const override {
    IndexSpaceInterface product = productOf(slice.getInput().getDefiningOp());
    if (!product || !slice.getInput().hasOneUse())
      return failure();
    const unsigned weights = product->getOperand(1).getDefiningOp<ConstantOp>() ? 1 : 0;
    if (!product->getOperand(weights).getDefiningOp<ConstantOp>() ||
        product->getOperand(1 - weights).getDefiningOp<ConstantOp>())
      return failure();
    OperandParts parts(product);
    const Selection taken(slice);
    Selection left(taken);
    Extents shape(taken.from);
    for (const size_t axis : llvm::seq(taken.rank())) {
      const auto loop = parts.space.results.front().loopAlong(axis);
      if (taken.isWhole(axis) || !loop || parts.space.operands[1 - weights].moves(*loop) ||
          !parts.take(axis, taken))
        continue;
      shape[axis] = taken.sizes[axis];
      left.take(axis, 0, shape[axis], 1);
    }
    if (shape == taken.from)
      return failure();
    const Location where = fuseLocs(slice.getContext(), {product->getLoc(), slice.getLoc()});
    Operation *smaller = parts.compute(
        rewriter, where, withShape(typeOf(slice.getInput()), shape, dataDim(slice.getInput())));
    rewriter.replaceOp(slice, left.of(rewriter, where, smaller->getResult(0)));
    return success();
  }
};

/// A window that runs along one phase of an axis of its operand: every `apart`-th element, with
/// what was index `first` in the first place; `size` elements at `count` positions, neighbours.
/// Null if the phase has no elements.
Value windowOfPhase(PatternRewriter &rewriter, WindowOp whole, size_t i, int64_t first,
                    int64_t apart, int64_t size, int64_t count) {
  const auto axis = static_cast<size_t>(whole.getAxes()[i]);
  const auto from = shapeOf(whole.getInput());
  const int64_t phase = llvm::mod(first, apart);
  if (phase >= from[axis])
    return nullptr;
  const auto elements = static_cast<int64_t>(llvm::divideCeil(from[axis] - phase, apart));
  reference::Window window = whole.window();
  window.starts[i] = (first - phase) / apart;
  window.sizes[i] = size;
  window.counts[i] = count;
  window.strides[i] = window.dilations[i] = 1;
  Extents shape(shapeOf(whole.getResult()));
  shape[axis] = count;
  shape[from.size() + i] = size;
  return rewriter.create<WindowOp>(whole.getLoc(),
                                   withShape(whole.getType(), shape, dataDim(whole.getResult())),
                                   slicedAlong(rewriter, whole.getLoc(), whole.getInput(), axis,
                                               phase, elements, elements > 1 ? apart : 1),
                                   window.axes, window.sizes, window.counts, window.starts,
                                   window.strides, window.dilations, whole.getValue());
}

/// Replaces a window by those of the phases of one of its axes, interleaved along an axis of the
/// result: phase k begins k elements behind the window.
LogicalResult interleavePhases(PatternRewriter &rewriter, WindowOp whole, size_t i, int64_t apart,
                               int64_t size, int64_t count, size_t along) {
  if (dataDim(whole.getInput()) == whole.getAxes()[i] || dataDim(whole.getResult()) == along ||
      apart > shapeOf(whole.getInput())[whole.getAxes()[i]])
    return failure();
  llvm::SmallVector<Value> parts;
  for (int64_t k = 0; k < apart; ++k)
    parts.push_back(
        windowOfPhase(rewriter, whole, i, whole.getStarts()[i] + k, apart, size, count));
  rewriter.replaceOpWithNewOp<InterleaveOp>(whole, whole.getType(), parts, along);
  return success();
}

/// A window of elements d apart sees one phase of every d-th element at a position, and the next
/// one at the next: dense windows over phases, interleaved by positions.
struct DilatedWindow : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    for (size_t i = 0; i < op.getAxes().size(); ++i) {
      const int64_t apart = op.getDilations()[i], count = op.getCounts()[i];
      if (apart > 1 && op.getSizes()[i] > 1 && op.getStrides()[i] == 1 && count % apart == 0 &&
          succeeded(interleavePhases(rewriter, op, i, apart, op.getSizes()[i], count / apart,
                                     op.getAxes()[i])))
        return success();
    }
    return failure();
  }
};

/// A window in steps of s sees with its element k always the same phase: dense windows over
/// phases, interleaved by elements.
struct StridedWindow : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    const size_t rank = shapeOf(op.getInput()).size();
    for (size_t i = 0; i < op.getAxes().size(); ++i) {
      const int64_t apart = op.getStrides()[i], size = op.getSizes()[i];
      if (apart > 1 && op.getCounts()[i] > 1 && op.getDilations()[i] == 1 && size % apart == 0 &&
          succeeded(
              interleavePhases(rewriter, op, i, apart, size / apart, op.getCounts()[i], rank + i)))
        return success();
    }
    return failure();
  }
};

/// interleave(a, b) * w is interleave(a * w, b * w), where its axis is one of the product's.
struct ProductOfInterleave : OpInterfaceRewritePattern<IndexSpaceInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(IndexSpaceInterface op, PatternRewriter &rewriter) const override {
    if (!productOf(op))
      return failure();
    auto turns = op->getOperand(0).getDefiningOp<InterleaveOp>();
    const Value whole = op->getResult(0);
    if (!turns || !turns.getResult().hasOneUse())
      return failure();
    const space::IndexSpace space = op.indexSpace();
    const unsigned axis = turns.getAxis();
    const auto loop = space.operands[0].loopAlong(axis);
    if (!loop || space.operands[1].moves(*loop))
      return failure();
    const auto to = space.results.front().axisAlong(*loop);
    if (!to || dataDim(turns.getResult()) == axis || dataDim(whole) == *to)
      return failure();
    Extents shape(shapeOf(whole));
    shape[*to] /= static_cast<int64_t>(turns.getInputs().size());
    llvm::SmallVector<Value> parts;
    for (Value input : turns.getInputs()) {
      Operation *part = rewriter.clone(*op);
      part->setOperand(0, input);
      forgetModelTensor(part);
      part->getResult(0).setType(withShape(typeOf(whole), shape, dataDim(whole)));
      parts.push_back(part->getResult(0));
    }
    rewriter.replaceOpWithNewOp<InterleaveOp>(op, whole.getType(), parts, *to);
    return success();
  }
};

} // namespace

void addProductPatterns(RewritePatternSet &patterns) {
  patterns.addWithLabel<SliceOfProduct>({"slice-of-product"}, patterns.getContext());
}

void addPhasePatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.addWithLabel<DilatedWindow>({"dilated-window"}, context);
  patterns.addWithLabel<StridedWindow>({"strided-window"}, context);
  patterns.addWithLabel<ProductOfInterleave>({"product-of-interleave"}, context);
}

} // namespace sluice::ir
