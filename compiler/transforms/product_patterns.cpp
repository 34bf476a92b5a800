// Slices of products move to their weights, and windows are taken apart by phases.
#include "compiler/transforms/view_patterns.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using Extents = llvm::SmallVector<int64_t, 4>;

RankedTensorType typeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

/// The operation that multiplies two operands, or null.
IndexSpaceInterface productOf(Operation *op) {
  auto spaced = llvm::dyn_cast_if_present<IndexSpaceInterface>(op);
  return spaced && op->getNumOperands() == 2 && spaced.indexSpace().work == space::Work::Product
             ? spaced
             : nullptr;
}

/// The axis of an operand, element by element along a loop.
std::optional<unsigned> axisAlong(const space::Projection &operand, unsigned loop) {
  for (unsigned axis = 0; axis < operand.rank(); ++axis)
    if (operand.loopAlong(axis) == loop)
      return axis;
  return std::nullopt;
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
    const space::IndexSpace space = product.indexSpace();
    const space::Projection &result = space.results.front();
    const auto shape = shapeOf(slice.getInput());
    const unsigned weights = product->getOperand(1).getDefiningOp<ConstantOp>() ? 1 : 0;
    const Value constant = product->getOperand(weights);
    if (!constant.getDefiningOp<ConstantOp>() ||
        product->getOperand(1 - weights).getDefiningOp<ConstantOp>())
      return failure();
    Extents starts(shapeOf(constant).size(), 0), sizes(shapeOf(constant)), steps(starts.size(), 1);
    Extents left(shape), leftStarts(slice.getStarts()), leftSteps(slice.getSteps());
    for (unsigned axis = 0; axis < shape.size(); ++axis) {
      const auto loop = result.loopAlong(axis);
      if ((slice.getSizes()[axis] == shape[axis] && slice.getSteps()[axis] == 1) || !loop ||
          space.operands[1 - weights].moves(*loop))
        continue;
      const auto from = axisAlong(space.operands[weights], *loop);
      if (!from)
        continue;
      starts[*from] = slice.getStarts()[axis];
      sizes[*from] = left[axis] = slice.getSizes()[axis];
      steps[*from] = sizes[*from] > 1 ? slice.getSteps()[axis] : 1;
      leftStarts[axis] = 0;
      leftSteps[axis] = 1;
    }
    if (left == Extents(shape))
      return failure();
    const Location where = fuseLocs(slice.getContext(), {product->getLoc(), slice.getLoc()});
    IRMapping mapping;
    mapping.map(constant, sliced(rewriter, where, constant, starts, sizes, steps));
    Operation *smaller = rewriter.clone(*product, mapping);
    smaller->setLoc(where);
    forgetModelTensor(smaller);
    smaller->getResult(0).setType(
        withShape(typeOf(slice.getInput()), left, dataDim(slice.getInput())));
    rewriter.replaceOp(slice, sliced(rewriter, where, smaller->getResult(0), leftStarts,
                                     slice.getSizes(), leftSteps));
    return success();
  }
};

/// A window that runs along one phase of an axis of its operand: every `apart`-th element, with
/// what was index `first` in the first place; `size` elements at `count` positions, neighbours.
/// Null if the phase has no elements.
Value windowOfPhase(PatternRewriter &rewriter, WindowOp whole, size_t i, int64_t first,
                    int64_t apart, int64_t size, int64_t count) {
  const auto axis = static_cast<size_t>(whole.getAxes()[i]);
  Extents sizes(shapeOf(whole.getInput())), starts(sizes.size(), 0), steps(sizes.size(), 1);
  const int64_t phase = llvm::mod(first, apart);
  if (phase >= sizes[axis])
    return nullptr;
  starts[axis] = phase;
  sizes[axis] = static_cast<int64_t>(llvm::divideCeil(sizes[axis] - phase, apart));
  steps[axis] = sizes[axis] > 1 ? apart : 1;
  reference::Window window = whole.window();
  window.starts[i] = (first - phase) / apart;
  window.sizes[i] = size;
  window.counts[i] = count;
  window.strides[i] = window.dilations[i] = 1;
  Extents shape(shapeOf(whole.getResult()));
  shape[axis] = count;
  shape[sizes.size() + i] = size;
  return rewriter.create<WindowOp>(
      whole.getLoc(), withShape(whole.getType(), shape, dataDim(whole.getResult())),
      sliced(rewriter, whole.getLoc(), whole.getInput(), starts, sizes, steps), window.axes,
      window.sizes, window.counts, window.starts, window.strides, window.dilations,
      whole.getValue());
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
    const auto to = axisAlong(space.results.front(), *loop);
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
