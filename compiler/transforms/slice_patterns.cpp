// Slices move up to where their elements come from.
#include "compiler/transforms/view_patterns.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace sluice::ir {

using space::Extents;

OperandParts::OperandParts(IndexSpaceInterface op) : space(op.indexSpace()), op(op) {
  for (const Value operand : op->getOperands())
    parts.emplace_back(shapeOf(operand));
}

bool OperandParts::take(size_t axis, const Selection &taken) {
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

Operation *OperandParts::compute(OpBuilder &builder, Location where, RankedTensorType type) const {
  llvm::SmallVector<Value> operands;
  for (auto [part, operand] : llvm::zip_equal(parts, op->getOperands()))
    operands.push_back(part.of(builder, where, operand));
  Operation *smaller = builder.clone(*op);
  smaller->setOperands(operands);
  smaller->setLoc(where);
  smaller->getResult(0).setType(type);
  forgetModelTensor(smaller);
  return smaller;
}

namespace {

/// A slice of the result of an operation of one kind.
template <typename Op> struct SliceOf : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp slice, PatternRewriter &rewriter) const override {
    auto source = slice.getInput().getDefiningOp<Op>();
    if (!source)
      return failure();
    const Location where = fuseLocs(slice.getContext(), {source->getLoc(), slice.getLoc()});
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

/// The result of an operation that was just built, with its type.
template <typename Op> Value typed(Op op, RankedTensorType type) {
  op.getResult().setType(type);
  return op.getResult();
}

/// Selects the same of every n-th element alone; false if the slice has steps between them.
bool takeEveryNth(Selection &taken, size_t axis, int64_t n) {
  if (taken.sizes[axis] != 1 && taken.steps[axis] % n != 0)
    return false;
  taken.take(axis, taken.starts[axis] / n, taken.sizes[axis],
             taken.sizes[axis] == 1 ? 1 : taken.steps[axis] / n);
  return true;
}

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
    if (runs.size() == 1 &&
        withShape(typeOf(concat.getInputs()[runs[0].input]), slice.getType().getShape(),
                  dataDim(concat.getInputs()[runs[0].input])) != slice.getType())
      return {}; // a constant, which has no data dimension
    llvm::SmallVector<Value> parts;
    for (const Run &run : runs) {
      Selection part = taken;
      part.take(axis, run.start, run.size, run.size == 1 ? 1 : taken.steps[axis]);
      parts.push_back(part.of(rewriter, where, concat.getInputs()[run.input]));
    }
    if (parts.size() == 1)
      return parts.front();
    return typed(rewriter.create<ConcatOp>(where, parts, axis), slice.getType());
  }

  static RankedTensorType typeOf(Value value) {
    return llvm::cast<RankedTensorType>(value.getType());
  }
};

/// slice(pad(x)) that takes nothing of the border is a slice of x.
struct SliceOfPad : SliceOf<PadOp> {
  using SliceOf::SliceOf;

  Value through(SliceOp slice, PadOp pad, Location where,
                PatternRewriter &rewriter) const override {
    Selection taken(slice);
    const auto inner = shapeOf(pad.getInput());
    for (size_t axis = 0; axis < taken.rank(); ++axis) {
      taken.starts[axis] -= pad.getLow()[axis];
      if (std::min(taken.starts[axis], taken.last(axis)) < 0 ||
          std::max(taken.starts[axis], taken.last(axis)) >= inner[axis])
        return {};
    }
    return taken.of(rewriter, where, pad.getInput());
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

/// slice(reverse(x)) is a slice of x that runs the other way.
struct SliceOfReverse : SliceOf<ReverseOp> {
  using SliceOf::SliceOf;

  Value through(SliceOp slice, ReverseOp reverse, Location where,
                PatternRewriter &rewriter) const override {
    Selection taken(slice);
    for (const int64_t axis : reverse.getAxes()) {
      taken.starts[axis] = taken.from[axis] - 1 - taken.starts[axis];
      if (taken.sizes[axis] > 1)
        taken.steps[axis] = -taken.steps[axis];
    }
    return taken.of(rewriter, where, reverse.getInput());
  }
};

/// A slice of a view with a number for each axis, which moves the slice alone along axes with the
/// number `still`. Along other axes the view stays where the slice takes all, and is resolved where
/// it can be.
template <typename Op, int64_t still> struct SliceOfAxes : SliceOf<Op> {
  using SliceOf<Op>::SliceOf;

  Value through(SliceOp slice, Op view, Location where, PatternRewriter &rewriter) const override {
    Selection taken(slice);
    Extents numbers(numbersOf(view));
    const Extents inner(shapeOf(view.getInput()));
    bool moves = false;
    for (size_t axis = 0; axis < taken.rank(); ++axis) {
      const bool isWhole = taken.isWhole(axis);
      moves |= !isWhole;
      if (isWhole)
        taken.sizes[axis] = inner[axis];
      else if (numbers[axis] != still && !resolve(taken, axis, numbers[axis], inner[axis]))
        return {};
      else
        numbers[axis] = still;
    }
    if (!moves)
      return {};
    const Value part = taken.of(rewriter, where, view.getInput());
    if (llvm::all_of(numbers, [](int64_t one) { return one == still; }))
      return part;
    return typed(rewriter.create<Op>(where, part, numbers), slice.getType());
  }

  virtual llvm::ArrayRef<int64_t> numbersOf(Op view) const = 0;
  /// Takes the same elements of the view's operand; false if there is no such slice.
  virtual bool resolve(Selection &taken, size_t axis, int64_t number, int64_t inner) const = 0;
};

/// slice(rotate(x)) is a slice of x where it takes no first element behind a last one; and the
/// rotation of a slice, along axes that are not rotated.
struct SliceOfRotate : SliceOfAxes<RotateOp, 0> {
  using SliceOfAxes::SliceOfAxes;

  llvm::ArrayRef<int64_t> numbersOf(RotateOp rotate) const override { return rotate.getBy(); }
  bool resolve(Selection &taken, size_t axis, int64_t by, int64_t extent) const override {
    const int64_t first = taken.starts[axis] + by, last = taken.last(axis) + by;
    taken.starts[axis] = first % extent;
    return first / extent == last / extent;
  }
};

/// slice(tile(x)) is a slice of x where it takes of one copy; and tiles of a slice, along axes
/// that are not repeated.
struct SliceOfTile : SliceOfAxes<TileOp, 1> {
  using SliceOfAxes::SliceOfAxes;

  llvm::ArrayRef<int64_t> numbersOf(TileOp tile) const override { return tile.getCounts(); }
  bool resolve(Selection &taken, size_t axis, int64_t, int64_t own) const override {
    const bool ofOne = taken.starts[axis] / own == taken.last(axis) / own;
    taken.starts[axis] %= own;
    return ofOne;
  }
};

/// slice(repeat(x)) is a slice of x where it takes one of the copies of an element, always the
/// same or alone; and a repetition of a slice, along other axes.
struct SliceOfRepeat : SliceOfAxes<RepeatOp, 1> {
  using SliceOfAxes::SliceOfAxes;

  llvm::ArrayRef<int64_t> numbersOf(RepeatOp repeat) const override { return repeat.getCounts(); }
  bool resolve(Selection &taken, size_t axis, int64_t count, int64_t) const override {
    return takeEveryNth(taken, axis, count);
  }
};

/// slice(interleave(a, b)) that takes of one of them is a slice of that one.
struct SliceOfInterleave : SliceOf<InterleaveOp> {
  using SliceOf::SliceOf;

  Value through(SliceOp slice, InterleaveOp interleave, Location where,
                PatternRewriter &rewriter) const override {
    Selection taken(slice);
    const size_t axis = interleave.getAxis();
    const auto turns = static_cast<int64_t>(interleave.getInputs().size());
    const Value one = interleave.getInputs()[taken.starts[axis] % turns];
    // A constant has no data dimension.
    if (dataDim(one) != dataDim(slice.getResult()) || !takeEveryNth(taken, axis, turns))
      return {};
    return taken.of(rewriter, where, one);
  }
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
struct SliceOfProduct : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp slice, PatternRewriter &rewriter) const override {
    auto product = slice.getInput().getDefiningOp<IndexSpaceInterface>();
    if (!product || !slice.getInput().hasOneUse() || product->getNumOperands() != 2 ||
        product.indexSpace().work != space::Work::Product)
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

} // namespace

void addSlicePatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.addWithLabel<SliceOfConcat>({"slice-of-concat"}, context);
  patterns.addWithLabel<SliceOfPad>({"slice-of-pad"}, context);
  patterns.addWithLabel<SliceOfLoops<BroadcastOp>>({"slice-of-broadcast"}, context);
  patterns.addWithLabel<SliceOfLoops<TransposeOp>>({"slice-of-transpose"}, context);
  patterns.addWithLabel<SliceOfReverse>({"slice-of-reverse"}, context);
  patterns.addWithLabel<SliceOfRotate>({"slice-of-rotate"}, context);
  patterns.addWithLabel<SliceOfTile>({"slice-of-tile"}, context);
  patterns.addWithLabel<SliceOfRepeat>({"slice-of-repeat"}, context);
  patterns.addWithLabel<SliceOfInterleave>({"slice-of-interleave"}, context);
  patterns.addWithLabel<SliceOfMap>({"slice-of-map"}, context);
  patterns.addWithLabel<SliceOfReduce>({"slice-of-reduce"}, context);
  patterns.addWithLabel<SliceOfProduct>({"slice-of-product"}, context);
}

} // namespace sluice::ir
