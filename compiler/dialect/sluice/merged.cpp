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

/// What an operation says of each axis: of merged ones, what it says of the first.
template <typename List> auto perAxis(const List &list, const AxisPlaces &places) {
  llvm::SmallVector<std::decay_t<decltype(list[0])>, 4> merged;
  for (auto [one, place] : llvm::zip_equal(list, places))
    if (place == static_cast<int64_t>(merged.size()))
      merged.push_back(one);
  return merged;
}

} // namespace

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
    const auto results = perAxis(map.getResults(), places);
    fewer.push_back(AffineMap::get(map.getNumDims(), 0, results, getContext())
                        .replaceDimsAndSymbols(numbers, {}, count, 0));
  }
  return builder.create<ContractOp>(getLoc(), fewer, operands[0], operands[1]);
}

Value TransposeOp::merged(OpBuilder &builder, ValueRange operands,
                          llvm::ArrayRef<AxisPlaces> axes) {
  Numbers permutation = perAxis(getPermutation(), axes.back());
  for (int64_t &axis : permutation)
    axis = axes.front()[axis];
  return builder.create<TransposeOp>(getLoc(), operands.front(), permutation);
}

Value SliceOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  // Merged axes stay whole.
  const AxisPlaces &places = axes.front();
  return builder.create<SliceOp>(getLoc(), operands.front(), perAxis(getStarts(), places),
                                 mergedShape(getSizes(), places), perAxis(getSteps(), places));
}

Value PadOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  return builder.create<PadOp>(getLoc(), operands.front(), perAxis(getLow(), axes.front()),
                               perAxis(getHigh(), axes.front()), getValue().convertToFloat());
}

Value ConcatOp::merged(OpBuilder &builder, ValueRange operands, llvm::ArrayRef<AxisPlaces> axes) {
  return builder.create<ConcatOp>(getLoc(), operands, axes.back()[getAxis()]);
}

} // namespace sluice::ir
