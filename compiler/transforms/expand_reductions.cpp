#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/view_patterns.h"
#include "hw/numerics/bf16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_EXPANDREDUCTIONS
#include "compiler/transforms/passes.h.inc"

namespace {

/// Least rows of a part of a line.
constexpr int64_t kLeastRows = 16;

/// Writes operations before a reduction, with its location.
class Expansion {
public:
  explicit Expansion(ReduceOp op) : op(op), builder(op) {}

  void logSumExp() {
    const Value x = op.getInput();
    const Value peak = finite(reduce(Monoid::Max, x, op.getAxes()));
    const Value kept = logPlus(reduce(Monoid::Sum, power(x, peak), op.getAxes()), peak);
    replaceBy(kept);
  }

  /// The sums of equal parts of a line, each of distances from the maximum of its part, so that a
  /// part needs no element of another one.
  void logSumExp(int64_t parts) {
    const Value x = op.getInput();
    const int64_t elements = llvm::cast<RankedTensorType>(x.getType()).getNumElements();
    const Value line = reshape(x, {parts, elements / parts}, 1);
    const Value peaks = finite(reduce(Monoid::Max, line, 1));
    const Value sums = reduce(Monoid::Sum, power(line, peaks), 1);
    const Value peak = reduce(Monoid::Max, peaks, 0);
    const Value shares =
        map({sums, power(peaks, peak)}, [](OpBuilder &b, Location where, ValueRange v) -> Value {
          return b.create<arith::MulFOp>(where, v[0], v[1]);
        });
    const Value kept = logPlus(reduce(Monoid::Sum, shares, 0), peak);
    replaceBy(reshape(kept, Extents(op.getInput().getType().getRank(), 1), *dataDim(x)));
  }

  /// How many parts of a line are worth it: as many as cores, a power of two, of whole rows. One if
  /// the reduction has several lines.
  int64_t parts(int64_t lanes, int64_t cores) {
    const auto shape = shapeOf(op.getInput());
    const auto dim = dataDim(op.getInput());
    if (!dim || !llvm::is_contained(op.getAxes(), *dim) ||
        op.getInput().getType().getNumElements() != shape[*dim])
      return 1;
    int64_t parts = 1;
    while (parts < cores && shape[*dim] % (2 * parts * lanes) == 0 &&
           shape[*dim] / lanes >= 2 * parts * kLeastRows)
      parts *= 2;
    return parts;
  }

private:
  using Extents = llvm::SmallVector<int64_t, 4>;

  template <typename Made> Value laidOut(Made made, std::optional<int64_t> dim) {
    Value value = made;
    value.setType(withShape(op.getInput().getType(), shapeOf(value), dim));
    return value;
  }
  Value reduce(Monoid monoid, Value x, llvm::ArrayRef<int64_t> axes) {
    return laidOut(builder.create<ReduceOp>(op.getLoc(), monoid, x, axes, /*keepdims=*/true),
                   dataDim(x));
  }
  Value reshape(Value x, llvm::ArrayRef<int64_t> shape, int64_t dim) {
    return shapeOf(x) == shape ? x : laidOut(builder.create<ReshapeOp>(op.getLoc(), x, shape), dim);
  }
  Value map(ValueRange operands,
            llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
    return laidOut(builder.create<MapOp>(op.getLoc(), operands, body), dataDim(operands.front()));
  }

  /// A maximum. Where all elements are minus infinity, their distances from a finite number are,
  /// too.
  Value finite(Value peak) {
    return map(peak, [](OpBuilder &b, Location where, ValueRange v) -> Value {
      return b.create<arith::MaximumFOp>(
          where, v[0],
          b.create<arith::ConstantOp>(where, b.getF32FloatAttr(numerics::kLowestBf16)));
    });
  }

  /// exp(x - peak)
  Value power(Value x, Value peak) {
    const Value all =
        laidOut(builder.create<BroadcastOp>(op.getLoc(), peak, shapeOf(x)), dataDim(x));
    return map({x, all}, [](OpBuilder &b, Location where, ValueRange v) -> Value {
      return b.create<math::ExpOp>(where, b.create<arith::SubFOp>(where, v[0], v[1]));
    });
  }

  /// log(sum) + peak
  Value logPlus(Value sum, Value peak) {
    return map({sum, peak}, [](OpBuilder &b, Location where, ValueRange v) -> Value {
      return b.create<arith::AddFOp>(where, b.create<math::LogOp>(where, v[0]), v[1]);
    });
  }

  /// Puts a value with the reduced axes in the place of the reduction.
  void replaceBy(Value kept) {
    Value result = kept;
    if (!op.getKeepdims()) {
      result = builder.create<SqueezeOp>(op.getLoc(), kept, op.getAxes());
      result.setType(op.getType());
    }
    keepModelTensor(op.getResult(), result);
    op.replaceAllUsesWith(result);
    op.erase();
  }

  ReduceOp op;
  OpBuilder builder;
};

struct ExpandReductions : impl::ExpandReductionsBase<ExpandReductions> {
  using ExpandReductionsBase::ExpandReductionsBase;

  void runOnOperation() override {
    getOperation()->walk([&](ReduceOp op) {
      if (op.getMonoid() != Monoid::LogSumExp)
        return;
      Expansion expansion(op);
      if (const int64_t parts = expansion.parts(lanes, cores); parts > 1)
        expansion.logSumExp(parts);
      else
        expansion.logSumExp();
    });
  }
};

} // namespace
} // namespace sluice::ir
