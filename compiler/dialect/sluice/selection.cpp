#include "compiler/dialect/sluice/selection.h"

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

Value withDim(Value value, std::optional<int64_t> dim) {
  value.setType(withShape(llvm::cast<RankedTensorType>(value.getType()), shapeOf(value), dim));
  return value;
}

Value sliced(OpBuilder &builder, Location location, Value input, llvm::ArrayRef<int64_t> starts,
             llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> steps) {
  const bool whole = llvm::all_of(starts, [](int64_t start) { return start == 0; }) &&
                     llvm::all_of(steps, [](int64_t step) { return step > 0; });
  if (whole && sizes == shapeOf(input))
    return input;
  return withDim(builder.create<SliceOp>(location, input, starts, sizes, steps), dataDim(input));
}

Value slicedAlong(OpBuilder &builder, Location location, Value input, size_t axis, int64_t start,
                  int64_t size, int64_t step) {
  Selection selection(shapeOf(input));
  selection.take(axis, start, size, step);
  return selection.of(builder, location, input);
}

Selection::Selection(SliceOp op) : Selection(shapeOf(op.getInput())) {
  for (const size_t axis : llvm::seq(rank()))
    take(axis, op.getStarts()[axis], op.getSizes()[axis],
         op.getSizes()[axis] == 1 ? 1 : op.getSteps()[axis]);
}

Value Selection::of(OpBuilder &builder, Location where, Value input) const {
  return sliced(builder, where, input, starts, sizes, steps);
}

} // namespace sluice::ir
