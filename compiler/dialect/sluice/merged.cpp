// The form that operations take where neighbouring axes are one; see interfaces.td.
#include "compiler/dialect/sluice/operations.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

space::Extents mergedShape(space::ExtentsRef shape, llvm::ArrayRef<int64_t> places) {
  space::Extents merged;
  for (auto [extent, place] : llvm::zip_equal(shape, places)) {
    if (place == static_cast<int64_t>(merged.size()))
      merged.push_back(1);
    merged.back() *= extent;
  }
  return merged;
}

Value mergedReshape(Operation *op, OpBuilder &builder, Value operand, const AxisPlaces &places) {
  const Value result = op->getResult(0);
  const space::Extents shape = mergedShape(shapeOf(result), places);
  // Of axes of extent 1 a reshape may choose another data dimension.
  if (shapeOf(operand) == llvm::ArrayRef(shape) && dataDim(operand) == places[*dataDim(result)])
    return operand;
  return builder.create<ReshapeOp>(op->getLoc(), operand, shape);
}

namespace {

using Numbers = llvm::SmallVector<int64_t, 4>;

/// What an operation says of each axis: of merged ones, which it leaves as they are, `together`.
Numbers perAxis(llvm::ArrayRef<int64_t> numbers, const AxisPlaces &places,
                llvm::function_ref<int64_t(int64_t place)> together) {
  Numbers merged;
  for (auto [axis, place] : llvm::enumerate(places)) {
    if (place == static_cast<int64_t>(merged.size()))
      merged.push_back(numbers[axis]);
    else
      merged.back() = together(place);
  }
  return merged;
}

Numbers zeroTogether(llvm::ArrayRef<int64_t> numbers, const AxisPlaces &places) {
  return perAxis(numbers, places, [](int64_t) { return int64_t{0}; });
}

} // namespace

Value MapOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  Operation *copy = builder.clone(**this);
  copy->setOperands(operands);
  copy->getResult(0).setType(RankedTensorType::get(mergedShape(shapeOf(getResult()), axes.back()),
                                                   getResult().getType().getElementType()));
  return copy->getResult(0);
}

Value ReduceOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  Numbers places;
  for (const int64_t axis : getAxes())
    if (places.empty() || places.back() != axes.front()[axis])
      places.push_back(axes.front()[axis]);
  return builder.create<ReduceOp>(getLoc(), getMonoid(), operands.front(), places, getKeepdims());
}

bool ContractOp::canMergeAxes() { return !getBanded(); }

Value ContractOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  // Of merged axes the first one's loop stays.
  const auto maps = this->maps();
  llvm::SmallVector<bool> stays(maps.front().getNumDims(), true);
  for (auto [map, places] : llvm::zip_equal(maps, axes))
    for (const unsigned axis : llvm::seq<unsigned>(1, map.getNumResults()))
      if (places[axis] == places[axis - 1])
        stays[llvm::cast<AffineDimExpr>(map.getResult(axis)).getPosition()] = false;
  llvm::SmallVector<AffineExpr> numbers;
  unsigned count = 0;
  for (const bool one : stays)
    numbers.push_back(one ? getAffineDimExpr(count++, getContext())
                          : getAffineConstantExpr(0, getContext()));
  llvm::SmallVector<AffineMap> fewer;
  for (auto [map, places] : llvm::zip_equal(maps, axes)) {
    llvm::SmallVector<AffineExpr> results;
    for (auto [axis, place] : llvm::enumerate(places))
      if (place == static_cast<int64_t>(results.size()))
        results.push_back(map.getResult(axis).replaceDims(numbers));
    fewer.push_back(AffineMap::get(count, 0, results, getContext()));
  }
  return builder.create<ContractOp>(getLoc(), fewer, operands[0], operands[1]);
}

Value TransposeOp::merged(OpBuilder &builder, ValueRange operands,
                          llvm::ArrayRef<AxisPlaces> axes) {
  Numbers permutation;
  for (auto [axis, place] : llvm::enumerate(axes.back()))
    if (place == static_cast<int64_t>(permutation.size()))
      permutation.push_back(axes.front()[getPermutation()[axis]]);
  return builder.create<TransposeOp>(getLoc(), operands.front(), permutation);
}

Value SliceOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  const AxisPlaces &places = axes.front();
  const llvm::ArrayRef<int64_t> shape = shapeOf(operands.front());
  return builder.create<SliceOp>(
      getLoc(), operands.front(), zeroTogether(getStarts(), places),
      perAxis(getSizes(), places, [&](int64_t place) { return shape[place]; }),
      perAxis(getSteps(), places, [](int64_t) { return int64_t{1}; }));
}

Value PadOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  return builder.create<PadOp>(getLoc(), operands.front(), zeroTogether(getLow(), axes.front()),
                               zeroTogether(getHigh(), axes.front()), getValue().convertToFloat());
}

Value BroadcastOp::merged(OpBuilder &builder, ValueRange operands,
                          llvm::ArrayRef<AxisPlaces> axes) {
  return builder.create<BroadcastOp>(getLoc(), operands.front(),
                                     mergedShape(shapeOf(getResult()), axes.back()));
}

Value ConcatOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  return builder.create<ConcatOp>(getLoc(), operands, axes.back()[getAxis()]);
}

} // namespace sluice::ir
