#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_CHOOSEINPAIRS
#include "compiler/transforms/passes.h.inc"

namespace {

/// The maximum of elements of which a constant masks all but one.
struct Chosen {
  Value from;
  reference::Tensor mask; ///< not 0: the chosen one
};

/// What a map masks: `mask != 0 ? from : lowest`, and only that.
std::optional<Chosen> maskedBy(MapOp map) {
  auto select =
      map.getBody().front().getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto test = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  llvm::APFloat other(0.0F), zero(0.0F);
  if (map.getInputs().size() != 2 || !test || test.getPredicate() != arith::CmpFPredicate::UNE ||
      !matchPattern(test.getRhs(), m_ConstantFloat(&zero)) || !zero.isZero() ||
      !matchPattern(select.getFalseValue(), m_ConstantFloat(&other)))
    return std::nullopt;
  const auto operandOf = [&](Value scalar) {
    const auto argument = llvm::dyn_cast<BlockArgument>(scalar);
    return argument ? map.getInputs()[argument.getArgNumber()] : Value();
  };
  const Value from = operandOf(select.getTrueValue()), mask = operandOf(test.getLhs());
  auto constant = mask ? mask.getDefiningOp<ConstantOp>() : ConstantOp();
  if (!from || !constant || from == mask)
    return std::nullopt;
  return Chosen{from, toTensor(constant.getValue())};
}

/// Along one axis of a tensor the elements of two halves, alternately: which are chosen of both.
class Pairs {
public:
  Pairs(ReduceOp op, Chosen chosen)
      : op(op), builder(op), axis(op.getAxes().front()), value(chosen.from),
        mask(std::move(chosen.mask)) {}

  /// Whether exactly one is chosen everywhere.
  [[nodiscard]] bool isChoice() const {
    const int64_t extent = shapeOf(value)[axis], inner = innerOf();
    const auto count = static_cast<int64_t>(mask.values.size());
    for (int64_t first = 0; first < count; first += extent * inner)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t ones = 0;
        for (int64_t k = 0; k < extent; ++k)
          ones += mask.values[first + k * inner + i] != 0;
        if (ones != 1)
          return false;
      }
    return true;
  }

  void build() {
    while (shapeOf(value)[axis] > 1)
      halve();
    if (!op.getKeepdims())
      value = builder.create<SqueezeOp>(op.getLoc(), value, op.getAxes());
    value.setType(op.getType());
    replaceOp(op, value);
  }

private:
  ReduceOp op;
  OpBuilder builder;
  int64_t axis;
  Value value; ///< of which one is chosen
  reference::Tensor mask;

  [[nodiscard]] int64_t innerOf() const {
    int64_t inner = 1;
    for (const int64_t extent : shapeOf(value).drop_front(axis + 1))
      inner *= extent;
    return inner;
  }

  /// `count` elements from one on along the axis, in steps of two.
  Value everyOther(int64_t first, int64_t count) {
    return slicedAlong(builder, op.getLoc(), value, axis, first, count, count == 1 ? 1 : 2);
  }

  /// One of every two neighbours stays; the last one of an odd number does.
  void halve() {
    const int64_t extent = shapeOf(value)[axis], pairs = extent / 2, inner = innerOf();
    const auto type = llvm::cast<RankedTensorType>(value.getType());
    const auto outer = static_cast<int64_t>(mask.values.size()) / (extent * inner);
    reference::Tensor second, fewer;
    second.shape.assign(type.getShape().begin(), type.getShape().end());
    second.shape[axis] = pairs;
    fewer.shape = second.shape;
    fewer.shape[axis] = extent - pairs;
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t k = 0; k < extent - pairs; ++k)
        for (int64_t j = 0; j < inner; ++j) {
          const double *pair = &mask.values[(i * extent + 2 * k) * inner + j];
          const double behind = k < pairs ? pair[inner] : 0;
          if (k < pairs)
            second.values.push_back(behind);
          fewer.values.push_back(*pair != 0 || behind != 0 ? 1 : 0);
        }
    const Value isSecond =
        builder.create<ConstantOp>(op.getLoc(), toElements(second, op.getContext()));
    Value chosen = builder.create<MapOp>(
        op.getLoc(), ValueRange{isSecond, everyOther(1, pairs), everyOther(0, pairs)},
        [](OpBuilder &b, Location where, ValueRange v) -> Value {
          const Value zero = b.create<arith::ConstantOp>(where, b.getF32FloatAttr(0));
          const Value test = b.create<arith::CmpFOp>(where, arith::CmpFPredicate::UNE, v[0], zero);
          return b.create<arith::SelectOp>(where, test, v[1], v[2]);
        });
    chosen.setType(withShape(type, second.shape, dataDim(type)));
    if (extent % 2 != 0) {
      const Value last = everyOther(extent - 1, 1);
      chosen = withDim(builder.create<ConcatOp>(op.getLoc(), ValueRange{chosen, last}, axis),
                       dataDim(type));
    }
    value = chosen;
    mask = std::move(fewer);
  }
};

struct ChooseInPairs : impl::ChooseInPairsBase<ChooseInPairs> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getFunctionBody().front()))
      if (auto reduce = llvm::dyn_cast<ReduceOp>(op))
        visit(reduce);
  }

private:
  static void visit(ReduceOp op) {
    auto map = op.getInput().getDefiningOp<MapOp>();
    if (op.getMonoid() != Monoid::Max || op.getAxes().size() != 1 || !map ||
        !map.getResult().hasOneUse() || dataDim(op.getInput()) == op.getAxes().front())
      return;
    std::optional<Chosen> chosen = maskedBy(map);
    if (!chosen)
      return;
    Pairs pairs(op, std::move(*chosen));
    if (!pairs.isChoice())
      return;
    pairs.build();
    map.erase();
  }
};

} // namespace
} // namespace sluice::ir
