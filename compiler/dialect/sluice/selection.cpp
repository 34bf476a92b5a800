#include "compiler/dialect/sluice/selection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

RankedTensorType withShape(RankedTensorType type, llvm::ArrayRef<int64_t> shape,
                           std::optional<int64_t> dim) {
  Attribute encoding;
  if (dim)
    encoding =
        DimAttr::get(type.getContext(), *dim, shape.empty() ? llvm::ArrayRef<int64_t>{1} : shape);
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

RankedTensorType withExtent(RankedTensorType type, int64_t axis, int64_t extent) {
  llvm::SmallVector<int64_t, 4> shape(type.getShape());
  shape[axis] = extent;
  return withShape(type, shape, dataDim(type));
}

Value withDim(Value value, std::optional<int64_t> dim) {
  value.setType(withShape(typeOf(value), shapeOf(value), dim));
  return value;
}

Value sliced(OpBuilder &builder, Location location, Value input,
             const space::Selection &selection) {
  const auto &[starts, sizes, steps] = selection;
  const bool whole = llvm::all_of(starts, [](int64_t start) { return start == 0; }) &&
                     llvm::all_of(steps, [](int64_t step) { return step > 0; });
  if (whole && llvm::ArrayRef(sizes) == shapeOf(input))
    return input;
  return withDim(builder.create<SliceOp>(location, input, starts, sizes, steps), dataDim(input));
}

Value select(OpBuilder &builder, Location where, Value test, Value chosen, Value otherwise) {
  return builder.create<MapOp>(
      where, ValueRange{test, chosen, otherwise},
      [](OpBuilder &body, Location at, ValueRange x) -> Value {
        const Value zero = body.create<arith::ConstantOp>(at, body.getF32FloatAttr(0));
        const Value isSet = body.create<arith::CmpFOp>(at, arith::CmpFPredicate::UNE, x[0], zero);
        return body.create<arith::SelectOp>(at, isSet, x[1], x[2]);
      });
}

Value slicedAlong(OpBuilder &builder, Location location, Value input, size_t axis, int64_t start,
                  int64_t size, int64_t step) {
  Selection selection(shapeOf(input));
  selection.take(axis, start, size, step);
  return sliced(builder, location, input, selection);
}

Selection::Selection(SliceOp op) : Selection(shapeOf(op.getInput())) {
  for (const size_t axis : llvm::seq(rank()))
    take(axis, op.getStarts()[axis], op.getSizes()[axis],
         op.getSizes()[axis] == 1 ? 1 : op.getSteps()[axis]);
}

} // namespace sluice::ir
