#include "compiler/transforms/passes.h"

#include <tuple>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/reference/ops.h"
#include "compiler/transforms/line_writer.h"
#include "compiler/transforms/map_operands.h"
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
  const Value from = operandOf(map, select.getTrueValue()), mask = operandOf(map, test.getLhs());
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
    const reference::Tensor chosen =
        reference::map({&mask}, [](const auto &number) { return number[0] != 0 ? 1.0 : 0.0; });
    const auto counts = reference::reduce(chosen, reference::Monoid::Sum, {axis}, true).values;
    return llvm::all_of(counts, [](double count) { return count == 1; });
  }

  void build() {
    while (shapeOf(value)[axis] > 1)
      halve();
    replaceByKept(op, value);
  }

private:
  ReduceOp op;
  OpBuilder builder;
  int64_t axis;
  Value value; ///< of which one is chosen
  reference::Tensor mask;

  /// `count` elements from one on along the axis, in steps of two.
  Value everyOther(int64_t first, int64_t count) {
    return slicedAlong(builder, op.getLoc(), value, axis, first, count, count == 1 ? 1 : 2);
  }
  [[nodiscard]] reference::Tensor everyOtherMask(int64_t first, int64_t count) const {
    reference::Shape starts(mask.shape.size(), 0), sizes(mask.shape), steps(starts.size(), 1);
    std::tie(starts[axis], sizes[axis], steps[axis]) = std::tuple(first, count, 2);
    return reference::slice(mask, starts, sizes, steps);
  }

  /// One of every two neighbours stays; the last one of an odd number does.
  void halve() {
    const int64_t extent = shapeOf(value)[axis], pairs = extent / 2, rest = extent % 2;
    const reference::Tensor first = everyOtherMask(0, pairs + rest);
    reference::Tensor second = everyOtherMask(1, pairs);
    const Value isSecond = builder.create<ConstantOp>(op.getLoc(), second);
    const Value odd = everyOther(1, pairs), even = everyOther(0, pairs);
    Value chosen = select(builder, op.getLoc(), isSecond, odd, even);
    const auto dim = dataDim(value);
    chosen.setType(withShape(typeOf(value), second.shape, dim));
    if (rest != 0) {
      const Value last = everyOther(extent - 1, 1);
      chosen = withDim(builder.create<ConcatOp>(op.getLoc(), ValueRange{chosen, last}, axis), dim);
    }
    value = chosen;
    reference::Shape none(mask.shape.size(), 0), behind(none);
    behind[axis] = rest;
    second = reference::pad(second, none, behind, 0);
    mask = reference::map({&first, &second}, [](const auto &pair) {
      return pair[0] != 0 || pair[1] != 0 ? 1.0 : 0.0;
    });
  }
};

void visit(ReduceOp op) {
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

struct ChooseInPairs : impl::ChooseInPairsBase<ChooseInPairs> {
  void runOnOperation() override { getOperation()->walk(visit); }
};

} // namespace
} // namespace sluice::ir
