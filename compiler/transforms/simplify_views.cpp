// Slices move up to where their elements come from, and neighbours become one. Each pattern has a
// label, which the options of the pass and --without-rewrite accept.
#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/selection.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SIMPLIFYVIEWS
#define GEN_PASS_DEF_SLICESBEFOREPRODUCTS
#include "compiler/transforms/passes.h.inc"

namespace {

using space::Extents;

/// The elements that an operation reads of its operands to compute some of its result.
class OperandParts {
public:
  explicit OperandParts(IndexSpaceInterface op) : space(op.indexSpace()), op(op) {
    for (const Value operand : op->getOperands())
      parts.emplace_back(shapeOf(operand));
  }

  const space::IndexSpace space;

  /// Selects along one axis of the result: each operand is selected along its axis of the same
  /// loop. Returns false if the axis has no loop, or an operand does not follow the loop along one
  /// axis.
  bool take(size_t axis, const Selection &taken) {
    const auto loop = space.results.front().loopAlong(axis);
    if (!loop)
      return false;
    for (auto [operand, part] : llvm::zip_equal(space.operands, parts)) {
      if (!operand.moves(*loop))
        continue;
      const auto along = operand.axisAlong(*loop);
      if (!along)
        return false;
      part.take(*along, taken.starts[axis], taken.sizes[axis], taken.steps[axis]);
    }
    return true;
  }

  /// Builds the operation on these parts, with a result of this type.
  Operation *compute(OpBuilder &builder, Location where, RankedTensorType type) const {
    llvm::SmallVector<Value> operands;
    for (auto [part, operand] : llvm::zip_equal(parts, op->getOperands()))
      operands.push_back(sliced(builder, where, operand, part));
    Operation *smaller = cloneWith(op, builder, operands, type);
    smaller->setLoc(where);
    return smaller;
  }

private:
  Operation *op;
  llvm::SmallVector<Selection, 2> parts; ///< by operand
};

/// A slice of the result of an operation of one kind.
template <typename Op> struct SliceOf : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp slice, PatternRewriter &rewriter) const override {
    auto source = slice.getInput().getDefiningOp<Op>();
    if (!source)
      return failure();
    const Location where = rewriter.getFusedLoc({source->getLoc(), slice.getLoc()});
    const Value result = through(slice, source, where, rewriter);
    if (!result)
      return failure();
    rewriter.replaceOp(slice, result);
    return success();
  }

  /// The same elements, of the same type; null, and nothing built, where the slice stays.
  virtual Value through(SliceOp slice, Op source, Location where,
                        PatternRewriter &rewriter) const = 0;
};

/// Whether a slice of a value may take the place of another slice. A constant has no data
/// dimension.
bool isOf(Value value, SliceOp slice) {
  return withShape(typeOf(value), shapeOf(slice.getResult()), dataDim(value)) == slice.getType();
}

/// slice(view(x)) is a slice of x, where what it takes is one: nothing of a border, one copy of
/// what is repeated, one of the interleaved tensors.
struct SliceOfView : SliceOf<ViewInterface> {
  using SliceOf::SliceOf;

  Value through(SliceOp slice, ViewInterface view, Location where,
                PatternRewriter &rewriter) const override {
    const auto selected = space::selectedFrom(view.pieces(), Selection(slice));
    if (!selected || !isOf(view->getOperand(selected->operand), slice))
      return {};
    return sliced(rewriter, where, view->getOperand(selected->operand), selected->elements);
  }
};

/// slice(concat(a, b)) is what it takes of a and of b, if that is fewer than there are or less
/// than all of one.
struct SliceOfConcat : SliceOf<ConcatOp> {
  using SliceOf::SliceOf;

  Value through(SliceOp slice, ConcatOp concat, Location where,
                PatternRewriter &rewriter) const override {
    const Selection taken(slice);
    const size_t axis = concat.getAxis();
    struct Run {
      unsigned input;
      int64_t start, size;
    };
    llvm::SmallVector<Run> runs;
    for (int64_t i = 0; i < taken.sizes[axis]; ++i) {
      int64_t at = taken.starts[axis] + i * taken.steps[axis];
      unsigned input = 0;
      for (; at >= shapeOf(concat.getInputs()[input])[axis]; ++input)
        at -= shapeOf(concat.getInputs()[input])[axis];
      if (!runs.empty() && runs.back().input == input)
        ++runs.back().size;
      else
        runs.push_back({input, at, 1});
    }
    if (runs.size() == concat.getInputs().size() && runs.size() > 1)
      return {}; // as many slices as there were operands
    if (runs.size() == 1 && !isOf(concat.getInputs()[runs[0].input], slice))
      return {};
    llvm::SmallVector<Value> parts;
    for (const Run &run : runs) {
      Selection part = taken;
      part.take(axis, run.start, run.size, run.size == 1 ? 1 : taken.steps[axis]);
      parts.push_back(sliced(rewriter, where, concat.getInputs()[run.input], part));
    }
    if (parts.size() == 1)
      return parts.front();
    return withDim(rewriter.create<ConcatOp>(where, parts, axis), dataDim(slice.getResult()));
  }
};

/// slice(op(x, y)) is op(slice(x), slice(y)), where a loop runs along each axis that the slice does
/// not take whole: the slice takes some of its iterations.
template <typename Op> struct SliceOfLoops : SliceOf<Op> {
  using SliceOf<Op>::SliceOf;

  Value through(SliceOp slice, Op op, Location where, PatternRewriter &rewriter) const override {
    const Selection taken(slice);
    if (!mayPass(taken, op))
      return {};
    OperandParts parts(op);
    for (const size_t axis : llvm::seq(taken.rank()))
      if (!taken.isWhole(axis) && !parts.take(axis, taken))
        return {};
    return parts.compute(rewriter, where, slice.getType())->getResult(0);
  }

  virtual bool mayPass(const Selection &, Op) const { return true; }
};

/// Whether a slice leaves the lanes as they are: before layout, too, where they are not known.
bool keepsLanes(const Selection &taken, Value result) {
  const std::optional<int64_t> dim = dataDim(result);
  return !dim || taken.rank() == 0 || taken.isWhole(*dim);
}

/// Only where nobody else reads the map and the lanes of several operands need not be moved for it.
struct SliceOfMap : SliceOfLoops<MapOp> {
  using SliceOfLoops::SliceOfLoops;

  bool mayPass(const Selection &taken, MapOp map) const override {
    return passes(taken, map) && (!rounds(map) || passesNumbersOf(taken, map));
  }

private:
  static bool passes(const Selection &taken, MapOp map) {
    return map.getResult().hasOneUse() &&
           (map.getInputs().size() == 1 || keepsLanes(taken, map.getResult()));
  }

  static bool rounds(MapOp map) { return !map.getBody().getOps<math::RoundEvenOp>().empty(); }

  /// Whether the slice moves on before the maps and products that give the operands of a map. A map
  /// that rounds to integers stays next to them: it reads sums before they are rounded to bf16.
  static bool passesNumbersOf(const Selection &taken, MapOp map) {
    return llvm::all_of(map.getInputs(), [&](Value input) {
      if (auto other = input.getDefiningOp<MapOp>())
        return !input.hasOneUse() || (passes(taken, other) && passesNumbersOf(taken, other));
      // A slice does not move before windows.
      auto product = input.getDefiningOp<IndexSpaceInterface>();
      return !product || product.indexSpace().work != space::Work::Product ||
             llvm::none_of(product->getOperands(), [](Value operand) {
               return operand.getDefiningOp<WindowOp>() != nullptr;
             });
    });
  }
};

/// Only where nobody else reads the reduction.
struct SliceOfReduce : SliceOfLoops<ReduceOp> {
  using SliceOfLoops::SliceOfLoops;

  bool mayPass(const Selection &taken, ReduceOp reduce) const override {
    return reduce.getResult().hasOneUse() && keepsLanes(taken, reduce.getResult());
  }
};

/// slice(x * w) of some features is x * slice(w), where nobody else reads the product: what nobody
/// reads is not multiplied, and along the lanes nothing is moved. What it takes along other axes is
/// taken behind the product.
struct SliceOfProduct : SliceOf<IndexSpaceInterface> {
  using SliceOf::SliceOf;

  Value through(SliceOp slice, IndexSpaceInterface product, Location where,
                PatternRewriter &rewriter) const override {
    if (!slice.getInput().hasOneUse() || product->getNumOperands() != 2 ||
        product.indexSpace().work != space::Work::Product)
      return {};
    const unsigned weights = product->getOperand(1).getDefiningOp<ConstantOp>() ? 1 : 0;
    if (!product->getOperand(weights).getDefiningOp<ConstantOp>() ||
        product->getOperand(1 - weights).getDefiningOp<ConstantOp>())
      return {};
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
      return {};
    Operation *smaller = parts.compute(
        rewriter, where, withShape(typeOf(slice.getInput()), shape, dataDim(slice.getInput())));
    return sliced(rewriter, where, smaller->getResult(0), left);
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
      values.push_back(value ? value : sliced(rewriter, concat.getLoc(), run.input, run.selected));
    if (values.size() == 1)
      rewriter.replaceOp(concat, values.front());
    else
      rewriter.modifyOpInPlace(concat, [&] { concat.getInputsMutable().assign(values); });
    return success();
  }
};

void addViewPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.addWithLabel<SliceOfConcat>({"slice-of-concat"}, context);
  patterns.addWithLabel<SliceOfView, SliceOfLoops<BroadcastOp>, SliceOfLoops<TransposeOp>,
                        SliceOfLoops<TileOp>, SliceOfLoops<RepeatOp>>({"slice-of-view"}, context);
  patterns.addWithLabel<SliceOfMap>({"slice-of-map"}, context);
  patterns.addWithLabel<SliceOfReduce>({"slice-of-reduce"}, context);
  patterns.addWithLabel<SliceOfProduct>({"slice-of-product"}, context);
  patterns.addWithLabel<ConcatOfSlices>({"concat-of-slices"}, context);
}

struct SimplifyViews : impl::SimplifyViewsBase<SimplifyViews> {
  using SimplifyViewsBase::SimplifyViewsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addViewPatterns(patterns);
    const FrozenRewritePatternSet chosen(std::move(patterns), without, only);
    KeepModelTensors names;
    GreedyRewriteConfig config;
    config.listener = &names;
    // The functions have one block, and the driver itself erases dead operations.
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    config.maxIterations = GreedyRewriteConfig::kNoLimit; // they end, see the pass's description
    if (failed(applyPatternsAndFoldGreedily(getOperation(), chosen, config)))
      signalPassFailure();
  }
};

/// slice(x * w) becomes slice(x) * w.
void sliceBeforeProduct(SliceOp slice) {
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
  Operation *smaller = parts.compute(
      builder, builder.getFusedLoc({product->getLoc(), slice.getLoc()}), slice.getType());
  replaceOp(slice, smaller->getResult(0));
  product->erase();
}

struct SlicesBeforeProducts : impl::SlicesBeforeProductsBase<SlicesBeforeProducts> {
  void runOnOperation() override { getOperation()->walk(sliceBeforeProduct); }
};

} // namespace

std::vector<std::string> viewRewrites(MLIRContext &context) {
  std::vector<std::string> labels;
  RewritePatternSet patterns(&context);
  addViewPatterns(patterns);
  for (const auto &pattern : patterns.getNativePatterns())
    for (const StringRef label : pattern->getDebugLabels())
      if (!llvm::is_contained(labels, label))
        labels.push_back(label.str());
  return labels;
}

} // namespace sluice::ir
