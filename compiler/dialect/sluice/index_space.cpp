// The index space interface: the loops of every operation, and the regions of its
// operands and result.
#include "compiler/dialect/sluice/monoids.h"
#include "compiler/dialect/sluice/operations.h"
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

/// A selection: the operand's place along an axis for each point of the result.
IndexSpace selection(Value operand, Value result,
                     llvm::function_ref<AffineExpr(int64_t axis, AffineExpr loop)> place) {
  IndexSpace space = over(shapeOf(result), Work::Address);
  Places places;
  for (const int64_t axis : llvm::seq<int64_t>(0, shapeOf(operand).size()))
    places.push_back(place(axis, getAffineDimExpr(axis, operand.getContext())));
  space.operands = {elementsAt(operand, places, space.loops.size())};
  space.results = {identity(result)};
  return space;
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

/// Finds loops whose extents make up those of both shapes of a reshape: [4 6] and
/// [2 12] are 2 * 2 * 6. Neighbouring axes without such loops, [4 6] and [3 8], are one
/// region of either tensor: the same elements in the same order.
class Reshaped {
public:
  Reshaped(Value operand, Value result)
      : context(operand.getContext()), sides{Side(operand), Side(result)} {
    while (sides[0].next < sides[0].axes.size())
      addGroup();
    space.work = Work::Address;
    space.operands = {projection(operand, sides[0])};
    space.results = {projection(result, sides[1])};
  }

  IndexSpace space;

private:
  /// Axes of extent 1 stand still and are left out of `axes`.
  struct Side {
    explicit Side(Value value)
        : shape(shapeOf(value)), region(shape.size(), 1),
          places(shape.size(), getAffineConstantExpr(0, value.getContext())) {
      for (auto [axis, extent] : llvm::enumerate(shape))
        if (extent != 1)
          axes.push_back(axis);
    }
    ExtentsRef shape;
    Extents region;
    Places places;
    llvm::SmallVector<size_t> axes;
    size_t next = 0;     ///< of axes, the first without a group
    int64_t count = 1;   ///< elements of the group
    size_t groupEnd = 0; ///< of axes
  };

  Projection projection(Value value, const Side &side) const {
    Projection one = elementsAt(value, side.places, space.loops.size());
    one.region = side.region;
    return one;
  }

  /// Distance of neighbours along each axis of a side's group, within the group.
  static Extents strides(const Side &side) {
    Extents result;
    int64_t stride = side.count;
    for (size_t i = side.next; i < side.groupEnd; ++i)
      result.push_back(stride /= side.shape[side.axes[i]]);
    return result;
  }

  /// The least number of axes of both that hold the same elements.
  void addGroup() {
    for (Side &side : sides) {
      side.groupEnd = side.next;
      side.count = 1;
    }
    do {
      Side &shorter = sides[0].count <= sides[1].count ? sides[0] : sides[1];
      shorter.count *= shorter.shape[shorter.axes[shorter.groupEnd++]];
    } while (sides[0].count != sides[1].count);

    Extents all = strides(sides[0]);
    all.append(strides(sides[1]));
    llvm::sort(all, std::greater<>());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    int64_t above = sides[0].count;
    const bool divides = llvm::all_of(all, [&](int64_t stride) {
      const bool whole = above % stride == 0;
      above = stride;
      return whole;
    });
    divides ? addLoops(all) : addRegion();
    for (Side &side : sides)
      side.next = side.groupEnd;
  }

  void addRegion() {
    for (Side &side : sides)
      for (size_t i = side.next; i < side.groupEnd; ++i)
        side.region[side.axes[i]] = side.shape[side.axes[i]];
  }

  /// A loop for each distance; an axis is the loops from its own distance up.
  void addLoops(ExtentsRef distances) {
    int64_t above = sides[0].count;
    for (const int64_t distance : distances) {
      const AffineExpr loop = getAffineDimExpr(space.loops.size(), context);
      space.loops.push_back({above / distance});
      above = distance;
      for (Side &side : sides)
        for (auto [i, stride] : llvm::enumerate(strides(side))) {
          const size_t axis = side.axes[side.next + i];
          if (distance >= stride && distance < stride * side.shape[axis])
            side.places[axis] = side.places[axis] + loop * (distance / stride);
        }
    }
  }

  MLIRContext *context;
  Side sides[2];
};

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
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  const auto type = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  Extents shape(type.getShape());
  shape[axis] = extent;
  copy->getResult(0).setType(RankedTensorType::get(shape, type.getElementType()));
  return copy;
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
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  return contraction(getLhs(), getRhs(), getResult(),
                     *contractAxes(maps, shapeOf(getLhs()), shapeOf(getRhs()), why));
}

IndexSpace TransposeOp::indexSpace() {
  return selection(getInput(), getResult(), [&](int64_t axis, AffineExpr) {
    const auto *to = llvm::find(getPermutation(), axis);
    return getAffineDimExpr(to - getPermutation().begin(), getContext());
  });
}

IndexSpace ReverseOp::indexSpace() {
  return selection(getInput(), getResult(), [&](int64_t axis, AffineExpr loop) {
    return llvm::is_contained(getAxes(), axis) ? shapeOf(getInput())[axis] - 1 - loop : loop;
  });
}

IndexSpace SliceOp::indexSpace() {
  return selection(getInput(), getResult(), [&](int64_t axis, AffineExpr loop) {
    return loop * getSteps()[axis] + getStarts()[axis];
  });
}

Operation *SliceOp::resized(OpBuilder &builder, ValueRange operands, int64_t axis, int64_t extent) {
  auto copy = llvm::cast<SliceOp>(withExtent(*this, builder, operands, axis, extent));
  copy.setStarts(with(getStarts(), axis, 0));
  copy.setSizes(with(getSizes(), axis, extent));
  return copy;
}

IndexSpace BroadcastOp::indexSpace() {
  return selection(getInput(), getResult(), [&](int64_t axis, AffineExpr loop) {
    return shapeOf(getInput())[axis] == 1 ? getAffineConstantExpr(0, getContext()) : loop;
  });
}

IndexSpace RelayoutOp::indexSpace() {
  return selection(getInput(), getResult(), [](int64_t, AffineExpr loop) { return loop; });
}

IndexSpace PadOp::indexSpace() {
  IndexSpace space = selection(getInput(), getResult(), [&](int64_t axis, AffineExpr loop) {
    return loop - getLow()[axis];
  });
  space.operands.front().outside = getValue().convertToDouble();
  return space;
}

Operation *PadOp::resized(OpBuilder &builder, ValueRange operands, int64_t axis, int64_t extent) {
  auto copy = llvm::cast<PadOp>(withExtent(*this, builder, operands, axis, extent));
  copy.setLow(with(getLow(), axis, 0));
  copy.setHigh(with(getHigh(), axis, 0));
  return copy;
}

IndexSpace WindowOp::indexSpace() {
  const ExtentsRef shape = shapeOf(getInput());
  IndexSpace space = over(shapeOf(getResult()), Work::Address);
  Places places;
  for (const size_t axis : llvm::seq<size_t>(0, shape.size()))
    places.push_back(getAffineDimExpr(axis, getContext()));
  bool leaves = false;
  for (auto [i, axis] : llvm::enumerate(getAxes())) {
    const AffineExpr element = getAffineDimExpr(shape.size() + i, getContext());
    const int64_t start = getStarts()[i];
    places[axis] = places[axis] * getStrides()[i] + element * getDilations()[i] + start;
    const int64_t last =
        start + (getCounts()[i] - 1) * getStrides()[i] + (getSizes()[i] - 1) * getDilations()[i];
    leaves |= start < 0 || last >= shape[axis];
  }
  space.operands = {elementsAt(getInput(), places, space.loops.size())};
  if (leaves)
    space.operands.front().outside = getValue().convertToDouble();
  space.results = {identity(getResult())};
  return space;
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

IndexSpace ConcatOp::indexSpace() {
  // All elements along the axis are one region, of each operand its own.
  const auto axis = static_cast<size_t>(getAxis());
  Extents others(shapeOf(getResult()));
  others.erase(others.begin() + axis);
  IndexSpace space = over(others, Work::Address);
  Places places;
  for (const size_t loop : llvm::seq<size_t>(0, others.size()))
    places.push_back(getAffineDimExpr(loop, getContext()));
  places.insert(places.begin() + axis, getAffineConstantExpr(0, getContext()));
  const auto whole = [&](Value value) {
    Projection one = elementsAt(value, places, others.size());
    one.region[axis] = one.tensor[axis];
    return one;
  };
  for (Value input : getInputs())
    space.operands.push_back(whole(input));
  space.results = {whole(getResult())};
  return space;
}

IndexSpace RotateOp::indexSpace() {
  // Along a rotated axis all elements are one region.
  IndexSpace space;
  space.work = Work::Address;
  Places places;
  Extents region;
  for (auto [extent, by] : llvm::zip_equal(shapeOf(getInput()), getBy())) {
    region.push_back(by == 0 ? 1 : extent);
    places.push_back(by == 0 ? getAffineDimExpr(space.loops.size(), getContext())
                             : getAffineConstantExpr(0, getContext()));
    if (by == 0)
      space.loops.push_back({extent});
  }
  space.operands = {elementsAt(getInput(), places, space.loops.size())};
  space.operands.front().region = region;
  space.results = {space.operands.front()};
  return space;
}

namespace {

/// Axes that have each element `counts` times: a loop over the elements, then one over where they
/// are repeated. `copyStride` says how far apart the copies of an element are.
IndexSpace repeated(Value input, Value result, ExtentsRef counts,
                    llvm::function_ref<int64_t(size_t axis)> copyStride) {
  IndexSpace space;
  space.work = Work::Address;
  MLIRContext *context = input.getContext();
  Places from, to;
  for (auto [axis, extent] : llvm::enumerate(shapeOf(input))) {
    from.push_back(getAffineDimExpr(space.loops.size(), context));
    space.loops.push_back({extent});
    if (counts[axis] == 1) {
      to.push_back(from.back());
      continue;
    }
    const int64_t copies = copyStride(axis), elements = copies == 1 ? counts[axis] : 1;
    to.push_back(from.back() * elements + getAffineDimExpr(space.loops.size(), context) * copies);
    space.loops.push_back({counts[axis]});
  }
  space.operands = {elementsAt(input, from, space.loops.size())};
  space.results = {elementsAt(result, to, space.loops.size())};
  return space;
}

} // namespace

IndexSpace TileOp::indexSpace() {
  return repeated(getInput(), getResult(), getCounts(),
                  [&](size_t axis) { return shapeOf(getInput())[axis]; });
}

IndexSpace RepeatOp::indexSpace() {
  return repeated(getInput(), getResult(), getCounts(), [](size_t) { return int64_t{1}; });
}

IndexSpace InterleaveOp::indexSpace() {
  // An element of each operand, and as many neighbours of the result.
  const auto axis = static_cast<size_t>(getAxis());
  const auto turns = static_cast<int64_t>(getInputs().size());
  IndexSpace space = over(shapeOf(getInputs().front()), Work::Address);
  for (Value input : getInputs())
    space.operands.push_back(identity(input));
  Places places;
  for (const size_t loop : llvm::seq<size_t>(0, space.loops.size()))
    places.push_back(getAffineDimExpr(loop, getContext()) * (loop == axis ? turns : 1));
  space.results = {elementsAt(getResult(), places, space.loops.size())};
  space.results.front().region[axis] = turns;
  return space;
}

IndexSpace ReshapeOp::indexSpace() { return Reshaped(getInput(), getResult()).space; }
IndexSpace UnsqueezeOp::indexSpace() { return Reshaped(getInput(), getResult()).space; }
IndexSpace SqueezeOp::indexSpace() { return Reshaped(getInput(), getResult()).space; }

} // namespace sluice::ir
