#include "compiler/transforms/passes.h"

#include <limits>

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/transforms/axis_pairs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_MERGEAXES
#include "compiler/transforms/passes.h.inc"

namespace {

/// Which pairs are merged.
class Choice {
public:
  Choice(const AxisPairs &pairs, int64_t lanes)
      : pairs(pairs), lanes(lanes), merged(pairs.size()), kept(pairs.size()) {}

  /// Merges axes of a tensor with its data dimension where it has fewer rows then: no more of them
  /// than nearly the fewest rows take, so that loops have others to run along. Those are one axis
  /// too.
  void look(Value value) {
    const llvm::ArrayRef<int64_t> shape = shapeOf(value);
    if (isConstant(value) || shape.empty())
      return;
    const Axes all = mergeable(value);
    const int64_t dim = *dataDim(value);
    int64_t fewest = std::numeric_limits<int64_t>::max();
    std::optional<Axes> best;
    const auto each = [&](auto visit) {
      for (int64_t first = dim; first >= all.first; --first)
        for (int64_t last = dim; last <= all.last; ++last)
          if (mayBe(value, all, {first, last}))
            visit(Axes{first, last}, rows(shape, all, {first, last}));
    };
    each([&](Axes, int64_t count) { fewest = std::min(fewest, count); });
    each([&](Axes axes, int64_t count) {
      if (count <= fewest + fewest / kNearly &&
          (!best || elements(shape, axes) < elements(shape, *best)))
        best = axes;
    });
    const int64_t now = elements(shape, all) / shape[dim] * ((shape[dim] + lanes - 1) / lanes);
    if (!best || rows(shape, all, *best) >= now)
      return;
    for (int64_t axis = all.first; axis < all.last; ++axis) {
      const unsigned pair = pairs.classOf(value, axis);
      const bool border = axis + 1 == best->first || axis == best->last;
      if (!merged.test(pair) && !kept.test(pair))
        (border ? kept : merged).set(pair);
    }
  }

  /// Classes, those that the chosen ones need included.
  [[nodiscard]] llvm::BitVector classes() const {
    llvm::BitVector all = merged;
    pairs.addNeeded(all);
    return all;
  }

private:
  /// An eighth more rows than the fewest is as good.
  static constexpr int64_t kNearly = 8;

  const AxisPairs &pairs;
  int64_t lanes;
  llvm::BitVector merged, kept; ///< what is decided

  struct Axes {
    int64_t first, last;
  };

  /// Around the data dimension.
  [[nodiscard]] Axes mergeable(Value value) const {
    const auto rank = static_cast<int64_t>(shapeOf(value).size());
    Axes axes{*dataDim(value), *dataDim(value)};
    const auto may = [&](int64_t axis) { return pairs.mayMerge(pairs.classOf(value, axis)); };
    while (axes.first > 0 && may(axes.first - 1))
      --axes.first;
    while (axes.last + 1 < rank && may(axes.last))
      ++axes.last;
    return axes;
  }

  /// Whether what is decided allows these axes to be one, and none more. No reshape is left for
  /// the sake of loops.
  [[nodiscard]] bool mayBe(Value value, Axes all, Axes axes) const {
    for (int64_t axis = axes.first; axis < axes.last; ++axis)
      if (kept.test(pairs.classOf(value, axis)))
        return false;
    const auto mayEnd = [&](int64_t axis) {
      const unsigned pair = pairs.classOf(value, axis);
      return !merged.test(pair) && (kept.test(pair) || !pairs.isReshaped(pair));
    };
    return (axes.first == all.first || mayEnd(axes.first - 1)) &&
           (axes.last == all.last || mayEnd(axes.last));
  }

  static int64_t elements(llvm::ArrayRef<int64_t> shape, Axes axes) {
    int64_t count = 1;
    for (int64_t axis = axes.first; axis <= axes.last; ++axis)
      count *= shape[axis];
    return count;
  }

  /// For each index along other axes than those that might be merged.
  [[nodiscard]] int64_t rows(llvm::ArrayRef<int64_t> shape, Axes all, Axes axes) const {
    const int64_t along = elements(shape, axes);
    return elements(shape, all) / along * ((along + lanes - 1) / lanes);
  }
};

struct MergeAxes : impl::MergeAxesBase<MergeAxes> {
  using MergeAxesBase::MergeAxesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Block &block = function.getBody().front();
    const AxisPairs pairs(block);
    Choice choice(pairs, lanes);
    for (BlockArgument argument : block.getArguments())
      choice.look(argument);
    for (Operation &op : block)
      for (Value result : op.getResults())
        choice.look(result);
    if (const llvm::BitVector merged = choice.classes(); merged.any())
      rewrite(function, pairs, merged);
  }

private:
  /// An operation with merged axes in an operand or in its result.
  struct Change {
    Operation *op;
    llvm::SmallVector<AxisPlaces> axes; ///< of the operands, then of the result
    RankedTensorType type;              ///< of the result
  };

  static bool areMerged(const AxisPlaces &places) {
    return !places.empty() && places.back() + 1 < static_cast<int64_t>(places.size());
  }

  static RankedTensorType typeOf(Value value, const AxisPlaces &places) {
    return withShape(llvm::cast<RankedTensorType>(value.getType()),
                     mergedShape(shapeOf(value), places),
                     places.empty() ? 0 : places[*dataDim(value)]);
  }

  static void rewrite(func::FuncOp function, const AxisPairs &pairs,
                      const llvm::BitVector &merged) {
    const auto places = [&](Value value, OpOperand *constant) {
      AxisPlaces axes;
      for (const auto axis : llvm::seq<int64_t>(0, shapeOf(value).size())) {
        const std::optional<unsigned> pair = axis == 0  ? std::nullopt
                                             : constant ? pairs.classOf(*constant, axis - 1)
                                                        : pairs.classOf(value, axis - 1);
        axes.push_back(axis == 0 ? 0 : axes.back() + (pair && merged.test(*pair) ? 0 : 1));
      }
      return axes;
    };
    // All that is asked of the function is asked of it as it was.
    Block &block = function.getBody().front();
    llvm::SmallVector<Change> changes;
    for (Operation &op : block.without_terminator()) {
      if (isConstant(op.getResult(0)))
        continue;
      Change change{&op, {}, {}};
      for (OpOperand &operand : op.getOpOperands())
        change.axes.push_back(
            places(operand.get(), isConstant(operand.get()) ? &operand : nullptr));
      const Value result = op.getResult(0);
      change.axes.push_back(places(result, nullptr));
      if (llvm::none_of(change.axes, areMerged))
        continue;
      change.type = typeOf(result, change.axes.back());
      changes.push_back(std::move(change));
    }
    for (BlockArgument argument : block.getArguments())
      argument.setType(typeOf(argument, places(argument, nullptr)));
    for (const Change &change : changes)
      make(change);
    function.setType(FunctionType::get(function.getContext(), block.getArgumentTypes(),
                                       block.getTerminator()->getOperandTypes()));
  }

  /// Makes the operation with merged axes in its place.
  static void make(const Change &change) {
    OpBuilder builder(change.op);
    llvm::SmallVector<Value> operands;
    for (auto [operand, axes] : llvm::zip(change.op->getOperands(), change.axes))
      operands.push_back(isConstant(operand) && areMerged(axes)
                             ? Value(builder.create<ReshapeOp>(change.op->getLoc(), operand,
                                                               mergedShape(shapeOf(operand), axes)))
                             : operand);
    Value made = llvm::cast<IndexSpaceInterface>(change.op).merged(builder, operands, change.axes);
    if (!llvm::is_contained(operands, made)) {
      forgetModelTensor(made.getDefiningOp());
      made.setType(change.type);
    }
    replaceOp(change.op, made);
  }
};

} // namespace
} // namespace sluice::ir
