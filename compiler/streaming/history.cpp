#include "compiler/streaming/history.h"

#include "compiler/dialect/sluice/operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace sluice::streaming {
namespace {

/// `count` elements along an axis, from `first` on.
Value part(OpBuilder &builder, Location where, Value value, unsigned axis, int64_t first,
           int64_t count) {
  llvm::SmallVector<int64_t> sizes(ir::shapeOf(value)), starts(sizes.size(), 0),
      steps(sizes.size(), 1);
  if (count == sizes[axis])
    return value;
  starts[axis] = first;
  sizes[axis] = count;
  return builder.create<ir::SliceOp>(where, value, starts, sizes, steps);
}

DenseElementsAttr splat(OpBuilder &builder, llvm::ArrayRef<int64_t> shape, double value) {
  return DenseElementsAttr::get(RankedTensorType::get(shape, builder.getF32Type()),
                                static_cast<float>(value));
}

Value filled(OpBuilder &builder, Location where, llvm::ArrayRef<int64_t> shape, double value) {
  return builder.create<ir::ConstantOp>(where, splat(builder, shape, value));
}

} // namespace

Value select(OpBuilder &builder, Location where, Value test, Value chosen, Value otherwise) {
  return builder.create<ir::MapOp>(
      where, ValueRange{test, chosen, otherwise},
      [](OpBuilder &body, Location at, ValueRange x) -> Value {
        const Value zero = body.create<arith::ConstantOp>(at, body.getF32FloatAttr(0));
        const Value isSet = body.create<arith::CmpFOp>(at, arith::CmpFPredicate::UNE, x[0], zero);
        return body.create<arith::SelectOp>(at, isSet, x[1], x[2]);
      });
}

Value History::positions(Value stream, unsigned axis, int64_t first, int64_t count,
                         double outside) {
  const Location where = stream.getLoc();
  if (first >= 0)
    return part(builder, where, stream, axis, first, count);
  llvm::SmallVector<int64_t> shape(ir::shapeOf(stream));
  const int64_t now = shape[axis];
  shape[axis] = -first;
  auto state = builder.create<ir::StateOp>(
      where, RankedTensorType::get(shape, builder.getF32Type()),
      outside == 0 ? ElementsAttr() : ElementsAttr(splat(builder, shape, outside)));
  const Value all =
      builder.create<ir::ConcatOp>(where, ValueRange{state.getResult(), stream}, axis);
  const Value last = part(builder, where, all, axis, now, -first);
  builder.create<ir::KeepOp>(where, last.getType(), last, state);
  return part(builder, where, all, axis, 0, count);
}

Value History::begun(llvm::ArrayRef<int64_t> shape, unsigned axis, int64_t behind) {
  const Value ones = filled(builder, builder.getUnknownLoc(), shape, 1);
  return positions(ones, axis, -behind, shape[axis]);
}

Value History::masked(Value stream, const Sequence &sequence, double outside) {
  const auto shape = ir::shapeOf(stream);
  return select(builder, stream.getLoc(), begun(shape, sequence.axis, sequence.behind), stream,
                filled(builder, stream.getLoc(), shape, outside));
}

} // namespace sluice::streaming
