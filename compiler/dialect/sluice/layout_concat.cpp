// The data-dimension rules of concat. DD-STACK rewrites a concat that stacks slices of one tensor.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {
namespace {

/// A concat that stacks slices of one tensor along a new axis of the result. The sliced axis is the
/// one before the new axis. Slice k starts k * distance elements behind the first slice.
struct Stack {
  SliceOp first;
  int64_t distance;
};

/// Returns the slice to which `value` adds an axis of extent 1 at position `axis`, or null.
SliceOp sliceBehindAxis(Value value, int64_t axis) {
  Operation *view = value.getDefiningOp();
  if (!llvm::isa_and_nonnull<UnsqueezeOp, ReshapeOp>(view))
    return {};
  auto slice = view->getOperand(0).getDefiningOp<SliceOp>();
  if (!slice)
    return {};
  Extents shape(shapeOf(slice.getResult()));
  if (axis > static_cast<int64_t>(shape.size()))
    return {};
  shape.insert(shape.begin() + axis, 1);
  return ExtentsRef(shape) == shapeOf(value) ? slice : SliceOp();
}

std::optional<Stack> stackOf(ConcatOp concat) {
  const auto axis = static_cast<int64_t>(concat.getAxis());
  llvm::SmallVector<SliceOp> slices;
  for (const Value part : concat.getInputs())
    if (SliceOp slice = sliceBehindAxis(part, axis))
      slices.push_back(slice);
  if (axis == 0 || slices.size() < 2 || slices.size() != concat.getInputs().size())
    return std::nullopt;
  const auto startOf = [&](SliceOp slice) { return slice.getStarts()[axis - 1]; };
  Stack stack{slices[0], startOf(slices[1]) - startOf(slices[0])};
  Extents starts(stack.first.getStarts());
  for (SliceOp slice : slices) {
    if (slice.getInput() != stack.first.getInput() || slice.getStarts() != ExtentsRef(starts) ||
        slice.getSizes() != stack.first.getSizes() || slice.getSteps() != stack.first.getSteps())
      return std::nullopt;
    starts[axis - 1] += stack.distance;
  }
  return stack.distance != 0 ? std::optional(stack) : std::nullopt;
}

} // namespace

void ConcatOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  const auto axis = static_cast<int64_t>(getAxis());
  layoutsOfView(*this, query, relation);
  if (!query.allowRewrites || llvm::is_contained(query.constant, true) || !stackOf(*this))
    return;
  LayoutTuple tuple{{},
                    "DD-STACK",
                    "stacked slices of one tensor lie side by side along its data dimension",
                    query.rows(query.result, axis)};
  tuple.dims.assign(query.operands.size(), static_cast<int8_t>(axis - 1));
  tuple.dims.push_back(static_cast<int8_t>(axis));
  tuple.rewrite = "stacked slices gathered side by side";
  relation.push_back(std::move(tuple));
}

/// Builds each row of the result as one slice of the source.
Value ConcatOp::rewriteLayout(OpBuilder &builder, const LayoutTuple &) {
  Stack stack = *stackOf(*this);
  const int64_t axis = static_cast<int64_t>(getAxis()) - 1;
  Extents starts(stack.first.getStarts()), sizes(stack.first.getSizes()),
      steps(stack.first.getSteps());
  const int64_t rows = sizes[axis], step = steps[axis];
  sizes[axis] = static_cast<int64_t>(getInputs().size());
  steps[axis] = stack.distance;
  llvm::SmallVector<Value> parts;
  for (int64_t i = 0; i < rows; ++i, starts[axis] += step)
    parts.push_back(
        builder.create<SliceOp>(getLoc(), stack.first.getInput(), starts, sizes, steps));
  const Value all = builder.create<ConcatOp>(getLoc(), parts, axis);
  return builder.create<ReshapeOp>(getLoc(), all, shapeOf(getResult()));
}

} // namespace sluice::ir
