#include "compiler/transforms/line_writer.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/selection.h"
#include "hw/numerics/bf16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace sluice::ir {

Value LineWriter::reduce(Monoid monoid, Value x, llvm::ArrayRef<int64_t> axes) {
  return withDim(builder.create<ReduceOp>(where, monoid, x, axes, /*keepdims=*/true), dataDim(x));
}

Value LineWriter::reshape(Value x, llvm::ArrayRef<int64_t> shape, std::optional<int64_t> dim) {
  return shapeOf(x) == shape ? x : withDim(builder.create<ReshapeOp>(where, x, shape), dim);
}

Value LineWriter::transpose(Value x, llvm::ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return x;
  const auto dim = dataDim(x);
  return withDim(builder.create<TransposeOp>(where, x, order),
                 dim ? std::optional(llvm::find(order, *dim) - order.begin()) : std::nullopt);
}

Value LineWriter::broadcast(Value x, llvm::ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x
                             : withDim(builder.create<BroadcastOp>(where, x, shape), dataDim(x));
}

Value LineWriter::map(ValueRange operands, Body body) {
  return withDim(builder.create<MapOp>(where, operands, body), dataDim(operands.front()));
}

template <typename Op> Value LineWriter::apply(Value x, Value y) {
  return map({x, broadcast(y, shapeOf(x))}, [](OpBuilder &b, Location at, ValueRange v) -> Value {
    return b.create<Op>(at, v[0], v[1]);
  });
}

Value LineWriter::difference(Value x, Value y) { return apply<arith::SubFOp>(x, y); }
Value LineWriter::product(Value x, Value y) { return apply<arith::MulFOp>(x, y); }
Value LineWriter::quotient(Value x, Value y) { return apply<arith::DivFOp>(x, y); }

Value LineWriter::power(Value x, Value y) {
  return map({x, broadcast(y, shapeOf(x))}, [](OpBuilder &b, Location at, ValueRange v) -> Value {
    return b.create<math::ExpOp>(at, b.create<arith::SubFOp>(at, v[0], v[1]));
  });
}

Value LineWriter::finite(Value peak) {
  return map(peak, [](OpBuilder &b, Location at, ValueRange v) -> Value {
    const Value lowest = b.create<arith::ConstantOp>(at, b.getF32FloatAttr(numerics::kLowestBf16));
    return b.create<arith::MaximumFOp>(at, v[0], lowest);
  });
}

void replaceByKept(ReduceOp op, Value kept) {
  if (!op.getKeepdims()) {
    OpBuilder builder(op);
    kept = builder.create<SqueezeOp>(op.getLoc(), kept, op.getAxes());
    kept.setType(op.getType());
  }
  replaceOp(op, kept);
}

int64_t partsOfLine(ReduceOp op, int64_t lanes, int64_t cores) {
  constexpr int64_t kLeastRows = 16;
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

} // namespace sluice::ir
