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

/// Writes operations before a reduction, with its location and its data dimension.
class Expansion {
public:
  explicit Expansion(ReduceOp op) : op(op), builder(op), layout(op.getInput().getType()) {}

  void logSumExp() {
    const Value x = op.getInput();
    // Where all elements are minus infinity, their distances from a finite number are, too.
    const Value peak =
        map(reduce(Monoid::Max, x), [](OpBuilder &b, Location where, ValueRange v) -> Value {
          return b.create<arith::MaximumFOp>(
              where, v[0],
              b.create<arith::ConstantOp>(where, b.getF32FloatAttr(numerics::kLowestBf16)));
        });
    const Value power =
        map({x, broadcast(peak)}, [](OpBuilder &b, Location where, ValueRange v) -> Value {
          return b.create<math::ExpOp>(where, b.create<arith::SubFOp>(where, v[0], v[1]));
        });
    const Value kept =
        map({reduce(Monoid::Sum, power), peak},
            [](OpBuilder &b, Location where, ValueRange v) -> Value {
              return b.create<arith::AddFOp>(where, b.create<math::LogOp>(where, v[0]), v[1]);
            });
    Value result = kept;
    if (!op.getKeepdims()) {
      result = builder.create<SqueezeOp>(op.getLoc(), kept, op.getAxes());
      result.setType(op.getType());
    }
    keepModelTensor(op.getResult(), result);
    op.replaceAllUsesWith(result);
    op.erase();
  }

private:
  Value withLayout(Value value) {
    value.setType(withShape(layout, shapeOf(value), dataDim(layout)));
    return value;
  }
  Value reduce(Monoid monoid, Value x) {
    return withLayout(
        builder.create<ReduceOp>(op.getLoc(), monoid, x, op.getAxes(), /*keepdims=*/true));
  }
  Value broadcast(Value x) {
    return withLayout(builder.create<BroadcastOp>(op.getLoc(), x, layout.getShape()));
  }
  Value map(ValueRange operands,
            llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
    return withLayout(builder.create<MapOp>(op.getLoc(), operands, body));
  }

  ReduceOp op;
  OpBuilder builder;
  RankedTensorType layout;
};

struct ExpandReductions : impl::ExpandReductionsBase<ExpandReductions> {
  void runOnOperation() override {
    getOperation()->walk([](ReduceOp op) {
      if (op.getMonoid() == Monoid::LogSumExp)
        Expansion(op).logSumExp();
    });
  }
};

} // namespace
} // namespace sluice::ir
