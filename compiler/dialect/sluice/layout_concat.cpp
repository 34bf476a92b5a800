// The data-dimension rules of concat, and its other form for windows that slices cut out.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {
namespace {

/// A concat of slices of one tensor, each with a new axis behind the sliced one. Element k along
/// the new axis, of element i along the axis before it, is element `first + i * step + k *
/// distance` of the source along its axis `axis`.
struct Stack {
  Value source;
  SliceOp like; ///< the first slice; the others have other starts along `axis` alone
  int64_t axis = 0, first = 0, step = 1, distance = 1;
};

/// Returns the slice behind a new axis before `axis`, or null.
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

/// Whether two slices differ in their starts along `axis` alone.
bool differAlong(int64_t axis, SliceOp one, SliceOp other) {
  const auto startsElsewhere = [&](SliceOp slice) {
    Extents starts(slice.getStarts());
    starts[axis] = 0;
    return starts;
  };
  return one.getInput() == other.getInput() && one.getSizes() == other.getSizes() &&
         one.getSteps() == other.getSteps() && startsElsewhere(one) == startsElsewhere(other);
}

std::optional<Stack> stackOf(ConcatOp concat) {
  const auto axis = static_cast<int64_t>(concat.getAxis());
  const ValueRange parts = concat.getInputs();
  SliceOp first = axis > 0 && parts.size() > 1 ? sliceBehindAxis(parts[0], axis) : SliceOp(),
          second = first ? sliceBehindAxis(parts[1], axis) : SliceOp();
  if (!second)
    return std::nullopt;
  const int64_t along = axis - 1, start = first.getStarts()[along];
  const Stack stack{first.getInput(),
                    first,
                    along,
                    start,
                    first.getSteps()[along],
                    second.getStarts()[along] - start};
  for (auto [k, part] : llvm::enumerate(parts)) {
    SliceOp slice = sliceBehindAxis(part, axis);
    if (!slice || !differAlong(along, first, slice) ||
        slice.getStarts()[along] != start + static_cast<int64_t>(k) * stack.distance)
      return std::nullopt;
  }
  return stack.distance != 0 ? std::optional(stack) : std::nullopt;
}

} // namespace

void ConcatOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  const auto axis = static_cast<int64_t>(getAxis());
  for (int64_t dim = 0; dim < static_cast<int64_t>(query.result.size()); ++dim) {
    LayoutTuple tuple{{},
                      "DD-CONCAT",
                      "concatenated tensors share one data dimension",
                      dim == axis ? query.rows(query.result, dim) : 0};
    for (const bool constant : query.constant)
      tuple.dims.push_back(constant ? kNoDim : static_cast<int8_t>(dim));
    tuple.dims.push_back(static_cast<int8_t>(dim));
    relation.push_back(std::move(tuple));
  }
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

LayoutRefusal ConcatOp::layoutRefusal(const LayoutQuery &) {
  return refusal("DD-CONCAT", "concatenated tensors have different data dimensions");
}

/// Row i of the stack is a slice of the source.
Value ConcatOp::rewriteLayout(OpBuilder &builder, const LayoutTuple &) {
  const Stack stack = *stackOf(*this);
  SliceOp like = stack.like;
  Extents starts(like.getStarts()), sizes(like.getSizes()), steps(like.getSteps());
  const int64_t rows = sizes[stack.axis];
  sizes[stack.axis] = static_cast<int64_t>(getInputs().size());
  steps[stack.axis] = stack.distance;
  llvm::SmallVector<Value> parts;
  for (int64_t i = 0; i < rows; ++i) {
    starts[stack.axis] = stack.first + i * stack.step;
    parts.push_back(builder.create<SliceOp>(getLoc(), stack.source, starts, sizes, steps));
  }
  const Value all = builder.create<ConcatOp>(getLoc(), parts, stack.axis);
  return builder.create<ReshapeOp>(getLoc(), all, shapeOf(getResult()));
}

} // namespace sluice::ir
