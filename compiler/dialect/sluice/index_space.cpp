// The index space interface: the loops of every operation, and the regions of its
// operands and result.
#include "compiler/dialect/sluice/monoids.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/dialect/sluice/shapes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using space::IndexSpace;
using space::Loop;
using space::LoopKind;
using space::Projection;
using space::Work;
using Places = llvm::SmallVector<AffineExpr>;

/// Elements of a tensor at these places, one for each of its axes.
Projection elementsAt(Value value, llvm::ArrayRef<AffineExpr> places, size_t loops) {
  return Projection::elements(AffineMap::get(loops, 0, places, value.getContext()), shapeOf(value));
}

/// A loop along each axis of a tensor, which has the elements in their order.
IndexSpace over(ExtentsRef shape, Work work) {
  IndexSpace space;
  for (const int64_t extent : shape)
    space.loops.push_back({extent});
  space.work = work;
  return space;
}

Projection identity(Value value) {
  return Projection::elements(
      AffineMap::getMultiDimIdentityMap(shapeOf(value).size(), value.getContext()), shapeOf(value));
}

IndexSpace contraction(Value lhs, Value rhs, Value result, const ContractionAxes &axes) {
  IndexSpace space = over(axes.extents, Work::Product);
  const auto has = [](const ContractionAxes::OfTensor &tensor, size_t loop) {
    return llvm::is_contained(tensor, std::optional<unsigned>(loop));
  };
  for (auto [index, loop] : llvm::enumerate(space.loops)) {
    const bool left = has(axes.lhs, index), right = has(axes.rhs, index),
               out = has(axes.result, index);
    // The axis that a vector does not have is a loop of extent 1 in no tensor.
    if (!out && (left || right))
      loop.kind = LoopKind::Reduced;
    loop.batch = index < axes.leading || (left && right && out);
  }
  const auto of = [&](Value value, const ContractionAxes::OfTensor &tensor) {
    Places places;
    for (const std::optional<unsigned> loop : tensor)
      places.push_back(loop ? getAffineDimExpr(*loop, value.getContext())
                            : getAffineConstantExpr(0, value.getContext()));
    return elementsAt(value, places, space.loops.size());
  };
  space.operands = {of(lhs, axes.lhs), of(rhs, axes.rhs)};
  space.results = {of(result, axes.result)};
  return space;
}

} // namespace

LogicalResult verifyIndexSpace(Operation *op) {
  std::string why;
  if (auto computing = llvm::dyn_cast<IndexSpaceInterface>(op))
    if (!space::verify(computing.indexSpace(), why))
      return op->emitOpError("index space: ") << why;
  return success();
}

Operation *withExtent(Operation *op, OpBuilder &builder, ValueRange operands, int64_t axis,
                      int64_t extent) {
  return cloneWith(op, builder, operands, withExtent(typeOf(op->getResult(0)), axis, extent));
}

namespace {

/// A list of numbers with another one at a place.
Extents with(ExtentsRef list, size_t place, int64_t number) {
  Extents changed(list);
  changed[place] = number;
  return changed;
}

} // namespace

IndexSpace MapOp::indexSpace() {
  IndexSpace space = over(shapeOf(getResult()), Work::Pass);
  for (Value input : getInputs())
    space.operands.push_back(identity(input));
  space.results = {identity(getResult())};
  return space;
}

IndexSpace ReduceOp::indexSpace() {
  const bool sums = llvm::is_contained({Monoid::Sum, Monoid::Mean, Monoid::Variance}, getMonoid());
  IndexSpace space = over(shapeOf(getInput()), sums ? Work::Product : Work::Pass);
  Places places;
  for (auto [axis, loop] : llvm::enumerate(space.loops)) {
    const bool reduced = llvm::is_contained(getAxes(), static_cast<int64_t>(axis));
    if (reduced)
      loop = {loop.extent, LoopKind::Reduced, definedBy(getMonoid())};
    if (!reduced)
      places.push_back(getAffineDimExpr(axis, getContext()));
    else if (getKeepdims())
      places.push_back(getAffineConstantExpr(0, getContext()));
  }
  space.operands = {identity(getInput())};
  space.results = {elementsAt(getResult(), places, space.loops.size())};
  return space;
}

IndexSpace MatmulOp::indexSpace() {
  std::string why;
  return contraction(getLhs(), getRhs(), getResult(),
                     *matmulAxes(shapeOf(getLhs()), shapeOf(getRhs()), why));
}

IndexSpace ContractOp::indexSpace() {
  std::string why;
  return contraction(getLhs(), getRhs(), getResult(),
                     *contractAxes(maps(), shapeOf(getLhs()), shapeOf(getRhs()), why));
}

Operation *SliceOp::resized(OpBuilder &builder, ValueRange operands, int64_t axis, int64_t extent) {
  auto copy = llvm::cast<SliceOp>(withExtent(*this, builder, operands, axis, extent));
  copy.setStarts(with(getStarts(), axis, 0));
  copy.setSizes(with(getSizes(), axis, extent));
  return copy;
}

Operation *PadOp::resized(OpBuilder &builder, ValueRange operands, int64_t axis, int64_t extent) {
  auto copy = llvm::cast<PadOp>(withExtent(*this, builder, operands, axis, extent));
  copy.setLow(with(getLow(), axis, 0));
  copy.setHigh(with(getHigh(), axis, 0));
  return copy;
}

Operation *WindowOp::resized(OpBuilder &builder, ValueRange operands, int64_t axis,
                             int64_t extent) {
  auto copy = llvm::cast<WindowOp>(withExtent(*this, builder, operands, axis, extent));
  if (const auto *moved = llvm::find(getAxes(), axis); moved != getAxes().end()) {
    const size_t place = moved - getAxes().begin();
    copy.setStarts(with(getStarts(), place, 0));
    copy.setCounts(with(getCounts(), place, extent));
  }
  return copy;
}

} // namespace sluice::ir
