// Several views become one.
#include "compiler/transforms/view_patterns.h"

#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using Extents = llvm::SmallVector<int64_t, 4>;

/// concat(concat(a, b), c) along one axis is concat(a, b, c).
struct ConcatOfConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp concat, PatternRewriter &rewriter) const override {
    llvm::SmallVector<Value> inputs;
    for (Value input : concat.getInputs()) {
      auto inner = input.getDefiningOp<ConcatOp>();
      if (inner && inner.getAxis() == concat.getAxis())
        llvm::append_range(inputs, inner.getInputs());
      else
        inputs.push_back(input);
    }
    if (inputs.size() == concat.getInputs().size())
      return failure();
    rewriter.modifyOpInPlace(concat, [&] { concat.getInputsMutable().assign(inputs); });
    return success();
  }
};

/// A run of one tensor's elements along an axis.
struct Run {
  Value input;
  Selection selected;

  static Run of(Value value) {
    auto slice = value.getDefiningOp<SliceOp>();
    return slice ? Run{slice.getInput(), Selection(slice)} : Run{value, Selection(shapeOf(value))};
  }

  /// Takes in what comes behind this run, if it is the next of it. A single element has any step.
  bool append(const Run &next, size_t axis) {
    const int64_t size = selected.sizes[axis], more = next.selected.sizes[axis];
    const int64_t distance = next.selected.starts[axis] - selected.last(axis);
    if (next.input != input || distance == 0 || (size > 1 && distance != selected.steps[axis]) ||
        (more > 1 && distance != next.selected.steps[axis]))
      return false;
    Selection both = selected, expected = next.selected;
    for (Selection *one : {&both, &expected})
      one->take(axis, selected.starts[axis], size + more, distance);
    if (both != expected)
      return false;
    selected = std::move(both);
    return true;
  }
};

/// Neighbouring slices in a concat are one slice.
struct ConcatOfSlices : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp concat, PatternRewriter &rewriter) const override {
    const size_t axis = concat.getAxis();
    struct Part {
      Run run;
      Value value; ///< null where it is of several
    };
    llvm::SmallVector<Part> parts;
    for (Value input : concat.getInputs()) {
      const Run run = Run::of(input);
      if (!parts.empty() && parts.back().run.append(run, axis))
        parts.back().value = nullptr;
      else
        parts.push_back({run, input});
    }
    if (parts.size() == concat.getInputs().size())
      return failure();
    // Of a constant beside activations.
    if (parts.size() == 1 && dataDim(parts[0].run.input) != dataDim(concat.getResult()))
      return failure();
    llvm::SmallVector<Value> values;
    for (const auto &[run, value] : parts)
      values.push_back(value ? value : run.selected.of(rewriter, concat.getLoc(), run.input));
    if (values.size() == 1)
      rewriter.replaceOp(concat, values.front());
    else
      rewriter.modifyOpInPlace(concat, [&] { concat.getInputsMutable().assign(values); });
    return success();
  }
};

/// The tensor x of which values are the phases x[0::n], x[1::n], ... along an axis, in their order;
/// null if they are not.
Value sourceOfPhases(llvm::ArrayRef<Value> values, size_t axis) {
  const auto count = static_cast<int64_t>(values.size());
  Value source;
  for (auto [k, value] : llvm::enumerate(values)) {
    auto phase = value.getDefiningOp<SliceOp>();
    if (!phase || (source && phase.getInput() != source))
      return {};
    source = phase.getInput();
    Selection expected(shapeOf(source));
    const int64_t size = expected.sizes[axis] / count;
    if (expected.sizes[axis] % count != 0)
      return {};
    expected.take(axis, static_cast<int64_t>(k), size, size > 1 ? count : 1);
    if (Selection(phase) != expected)
      return {};
  }
  return source;
}

/// Every phase of an axis, interleaved again: the concat, along an axis of its own behind it, of
/// elements k, k + n, k + 2n, ... for k from 0 to n - 1 is a reshape of what they are taken of.
struct InterleavedPhases : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp concat, PatternRewriter &rewriter) const override {
    const auto own = static_cast<int64_t>(concat.getAxis());
    if (own == 0 || concat.getInputs().size() < 2)
      return failure();
    llvm::SmallVector<Value> phases;
    for (Value input : concat.getInputs()) {
      auto unsqueeze = input.getDefiningOp<UnsqueezeOp>();
      if (!unsqueeze || unsqueeze.getAxes() != llvm::ArrayRef<int64_t>{own})
        return failure();
      phases.push_back(unsqueeze.getInput());
    }
    const Value source = sourceOfPhases(phases, own - 1);
    if (!source || dataDim(source).has_value() != dataDim(concat.getResult()).has_value())
      return failure();
    const auto type = concat.getType();
    auto reshape = rewriter.create<ReshapeOp>(concat.getLoc(), source, type.getShape());
    reshape.getResult().setType(type);
    rewriter.replaceOp(concat, reshape);
    return success();
  }
};

/// interleave(x[0::n], x[1::n], ...) is x.
struct InterleaveOfPhases : OpRewritePattern<InterleaveOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(InterleaveOp whole, PatternRewriter &rewriter) const override {
    const llvm::SmallVector<Value> phases(whole.getInputs());
    const Value source = sourceOfPhases(phases, whole.getAxis());
    if (!source || source.getType() != whole.getType())
      return failure();
    rewriter.replaceOp(whole, source);
    return success();
  }
};

/// concat(x[k:], x[:k]) is a rotation of x.
struct ConcatOfRotation : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp concat, PatternRewriter &rewriter) const override {
    if (concat.getInputs().size() != 2)
      return failure();
    auto back = concat.getInputs()[0].getDefiningOp<SliceOp>(),
         front = concat.getInputs()[1].getDefiningOp<SliceOp>();
    if (!back || !front || back.getInput() != front.getInput() ||
        back.getInput().getType() != concat.getType())
      return failure();
    const size_t axis = concat.getAxis();
    const int64_t by = front.getSizes()[axis];
    Selection first(concat.getType().getShape()), last(first);
    first.take(axis, 0, by, 1);
    last.take(axis, by, last.sizes[axis] - by, 1);
    if (Selection(front) != first || Selection(back) != last)
      return failure();
    Extents turned(first.rank(), 0);
    turned[axis] = by;
    auto rotation = rewriter.create<RotateOp>(concat.getLoc(), back.getInput(), turned);
    rotation.getResult().setType(concat.getType());
    rewriter.replaceOp(concat, rotation);
    return success();
  }
};

/// pad(pad(x)) of one value has both borders.
struct PadOfPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp pad, PatternRewriter &rewriter) const override {
    auto inner = pad.getInput().getDefiningOp<PadOp>();
    if (!inner || inner.getValue() != pad.getValue())
      return failure();
    Extents low(pad.getLow()), high(pad.getHigh());
    for (size_t axis = 0; axis < low.size(); ++axis) {
      low[axis] += inner.getLow()[axis];
      high[axis] += inner.getHigh()[axis];
    }
    rewriter.modifyOpInPlace(pad, [&] {
      pad.setLow(low);
      pad.setHigh(high);
      pad.getInputMutable().assign(inner.getInput());
    });
    return success();
  }
};

/// broadcast(broadcast(x)) is one.
struct BroadcastOfBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastOp broadcast, PatternRewriter &rewriter) const override {
    auto inner = broadcast.getInput().getDefiningOp<BroadcastOp>();
    if (!inner)
      return failure();
    rewriter.modifyOpInPlace(broadcast,
                             [&] { broadcast.getInputMutable().assign(inner.getInput()); });
    return success();
  }
};

/// Axes that were added and are removed again.
struct SqueezeOfUnsqueeze : OpRewritePattern<SqueezeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SqueezeOp squeeze, PatternRewriter &rewriter) const override {
    auto unsqueeze = squeeze.getInput().getDefiningOp<UnsqueezeOp>();
    if (!unsqueeze || unsqueeze.getAxes() != squeeze.getAxes() ||
        unsqueeze.getInput().getType() != squeeze.getType())
      return failure();
    rewriter.replaceOp(squeeze, unsqueeze.getInput());
    return success();
  }
};

} // namespace

void addMergePatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.addWithLabel<ConcatOfConcat>({"concat-of-concat"}, context);
  patterns.addWithLabel<ConcatOfSlices>({"concat-of-slices"}, context);
  patterns.addWithLabel<InterleavedPhases>({"interleaved-phases"}, context);
  patterns.addWithLabel<InterleaveOfPhases>({"interleave-of-phases"}, context);
  patterns.addWithLabel<ConcatOfRotation>({"concat-of-rotation"}, context);
  patterns.addWithLabel<PadOfPad>({"pad-of-pad"}, context);
  patterns.addWithLabel<BroadcastOfBroadcast>({"broadcast-of-broadcast"}, context);
  patterns.addWithLabel<SqueezeOfUnsqueeze>({"squeeze-of-unsqueeze"}, context);
}

} // namespace sluice::ir
