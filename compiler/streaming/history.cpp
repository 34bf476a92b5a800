#include "compiler/streaming/history.h"

#include "compiler/dialect/sluice/selection.h"
#include "compiler/reference/ops.h"
#include "compiler/streaming/bands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::streaming {

Value History::positions(Value stream, unsigned axis, int64_t first, int64_t count,
                         double outside) {
  const Location where = stream.getLoc();
  if (first >= 0)
    return ir::slicedAlong(builder, where, stream, axis, first, count);
  const auto type = ir::withExtent(ir::typeOf(stream), axis, -first);
  ElementsAttr initial;
  if (outside != 0)
    initial = ir::toElements(filled(type.getShape(), outside), builder.getContext());
  auto state = builder.create<ir::StateOp>(where, type, initial);
  const Value all =
      builder.create<ir::ConcatOp>(where, ValueRange{state.getResult(), stream}, axis);
  const Value last = ir::slicedAlong(builder, where, all, axis, ir::shapeOf(stream)[axis], -first);
  builder.create<ir::KeepOp>(where, last.getType(), last, state);
  return ir::slicedAlong(builder, where, all, axis, 0, count);
}

Value History::begun(llvm::ArrayRef<int64_t> shape, unsigned axis, int64_t behind) {
  const Value ones = builder.create<ir::ConstantOp>(builder.getUnknownLoc(), filled(shape, 1));
  return positions(ones, axis, -behind, shape[axis]);
}

namespace {

/// By position of an inference: in how many of the first inferences it is one of `length`.
std::vector<int64_t> inferencesWithin(const Sequence &sequence, int64_t count, int64_t length) {
  std::vector<int64_t> within;
  for (int64_t i = 0; i < count; ++i)
    within.push_back(
        std::max<int64_t>(0, llvm::divideCeilSigned(length + sequence.behind - i, count)));
  return within;
}

/// A constant of a shape whose elements depend on their place along an axis.
Value alongAxis(OpBuilder &builder, Location where, llvm::ArrayRef<int64_t> shape, unsigned axis,
                llvm::function_ref<int64_t(int64_t)> element) {
  reference::Tensor line(reference::Shape(shape.size(), 1), {});
  line.shape[axis] = shape[axis];
  for (int64_t i = 0; i < shape[axis]; ++i)
    line.values.push_back(static_cast<double>(element(i)));
  return builder.create<ir::ConstantOp>(where,
                                        reference::broadcast(line, {shape.begin(), shape.end()}));
}

Value number(OpBuilder &body, Location at, double value) {
  return body.create<arith::ConstantOp>(at, body.getF32FloatAttr(static_cast<float>(value)));
}

Value isLastUnit(OpBuilder &body, Location at, Value units) {
  return body.create<arith::CmpFOp>(at, arith::CmpFPredicate::OEQ, units,
                                    number(body, at, kCountDigit - 1));
}

} // namespace

History::Digits History::inferences(Location where, llvm::ArrayRef<int64_t> shape) {
  const auto [known, isNew] = counted.try_emplace({shape.begin(), shape.end()});
  Digits &digits = known->second;
  if (!isNew)
    return digits;
  const Type type = RankedTensorType::get(shape, builder.getF32Type());
  for (Value *digit : {&digits.first, &digits.second})
    *digit = builder.create<ir::StateOp>(where, type, ElementsAttr());
  const Value units = builder.create<ir::MapOp>(
      where, ValueRange{digits.first}, [](OpBuilder &body, Location at, ValueRange x) -> Value {
        const Value isFull = isLastUnit(body, at, x[0]);
        const Value more = body.create<arith::AddFOp>(at, x[0], number(body, at, 1));
        return body.create<arith::SelectOp>(at, isFull, number(body, at, 0), more);
      });
  const Value tens =
      builder.create<ir::MapOp>(where, ValueRange{digits.first, digits.second},
                                [](OpBuilder &body, Location at, ValueRange x) -> Value {
                                  const Value isFull = isLastUnit(body, at, x[0]);
                                  const Value more =
                                      body.create<arith::AddFOp>(at, x[1], number(body, at, 1));
                                  return body.create<arith::SelectOp>(at, isFull, more, x[1]);
                                });
  builder.create<ir::KeepOp>(where, type, units, digits.first);
  builder.create<ir::KeepOp>(where, type, tens, digits.second);
  return digits;
}

Value History::ended(Value stream, const Sequence &sequence, int64_t length, double outside) {
  const Location where = stream.getLoc();
  const auto shape = ir::shapeOf(stream);
  const std::vector<int64_t> within = inferencesWithin(sequence, shape[sequence.axis], length);
  llvm::SmallVector<int64_t> one(shape);
  one[sequence.axis] = 1;
  auto [units, tens] = inferences(where, one);
  if (one != llvm::SmallVector<int64_t>(shape))
    for (Value *digit : {&units, &tens})
      *digit = builder.create<ir::BroadcastOp>(where, *digit, shape);
  const auto constant = [&](auto digitOf) {
    return alongAxis(builder, where, shape, sequence.axis,
                     [&](int64_t i) { return digitOf(within[static_cast<size_t>(i)]); });
  };
  const Value unitsWithin = constant([](int64_t all) { return all % kCountDigit; });
  const Value tensWithin = constant([](int64_t all) { return all / kCountDigit; });
  // How many inferences are left, or its sign at least: digits are whole numbers below kCountDigit.
  const Value made = builder.create<ir::MapOp>(
      where, ValueRange{stream, units, tens, unitsWithin, tensWithin},
      [outside](OpBuilder &body, Location at, ValueRange x) -> Value {
        const Value tensLeft = body.create<arith::SubFOp>(at, x[4], x[2]);
        const Value unitsLeft = body.create<arith::SubFOp>(at, x[3], x[1]);
        const Value weighted =
            body.create<arith::MulFOp>(at, tensLeft, number(body, at, 2 * kCountDigit));
        const Value left = body.create<arith::AddFOp>(at, weighted, unitsLeft);
        const Value isWithin =
            body.create<arith::CmpFOp>(at, arith::CmpFPredicate::OGT, left, number(body, at, 0));
        return body.create<arith::SelectOp>(at, isWithin, x[0], number(body, at, outside));
      });
  return borderOf(stream, made);
}

Value History::masked(Value stream, const Sequence &sequence, double outside) {
  const Location where = stream.getLoc();
  const auto shape = ir::shapeOf(stream);
  const Value test = begun(shape, sequence.axis, sequence.behind);
  const Value border = builder.create<ir::ConstantOp>(where, filled(shape, outside));
  return borderOf(stream, ir::select(builder, where, test, stream, border));
}

Value History::borderOf(Value stream, Value made) {
  bordered[stream] = made;
  return made;
}

Value History::stored(Value stream) const {
  while (!llvm::isa<BlockArgument>(stream) && stream.hasOneUse()) {
    const auto made = bordered.find(stream);
    Operation *reader = *stream.user_begin();
    // What was made and is not read is gone.
    if (made == bordered.end() || reader->getNumResults() != 1 ||
        reader->getResult(0) != made->second)
      break;
    stream = made->second;
  }
  return stream;
}

} // namespace sluice::streaming
