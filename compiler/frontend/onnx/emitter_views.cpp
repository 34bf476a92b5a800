// The views that the emitter writes; of known tensors it selects the elements at once.
#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/frontend/onnx/checked_shape.h"

namespace sluice::frontend {
namespace {

/// Index of an element of `shape` in another tensor: the sum of offset and of
/// the element's coordinates times `strides`.
std::function<int64_t(int64_t)> strided(Shape shape, Shape strides, int64_t offset) {
  return [shape = std::move(shape), strides = std::move(strides), offset](int64_t flat) {
    int64_t source = offset;
    for (size_t axis = shape.size(); axis-- > 0;) {
      source += flat % shape[axis] * strides[axis];
      flat /= shape[axis];
    }
    return source;
  };
}

/// Whether a known tensor may be computed, before it takes memory.
void checkFolded(const Shape &shape) {
  if (elementCount(shape, kMostFoldedElements) < 0)
    throw NodeError{kShapes, "the result " + shapeText(shape) + " has more than " +
                                 std::to_string(kMostFoldedElements) + " elements"};
}

Shape joined(Shape front, const Shape &back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

/// The axes of a tensor from `rank` on, behind others.
Shape withInner(const Shape &front, const Shape &of, size_t rank) {
  return joined(front, {of.begin() + static_cast<std::ptrdiff_t>(rank), of.end()});
}

/// An axis whose neighbouring elements are `stride` elements apart.
struct Stride {
  int64_t extent, stride;
};

/// Returns the axes of row-major elements of shape `from` that have the extents `to` when the
/// elements of `axes`, the last fastest, are counted row by row. Nothing if none have.
std::optional<Shape> permutationOf(const Shape &from, std::vector<Stride> axes, const Shape &to) {
  if (from.size() != to.size())
    return std::nullopt;
  const Shape strides = stridesOf(from);
  std::vector<bool> isTaken(from.size());
  Shape permutation(to.size());
  for (size_t axis = to.size(); axis-- > 0;) {
    int64_t extent = 1, stride = 0;
    while (extent < to[axis]) {
      while (!axes.empty() && axes.back().extent == 1)
        axes.pop_back();
      if (axes.empty() || (extent > 1 && axes.back().stride != stride * extent))
        return std::nullopt;
      Stride &next = axes.back();
      const int64_t taken = std::gcd(to[axis] / extent, next.extent);
      if (taken == 1)
        return std::nullopt;
      stride = extent == 1 ? next.stride : stride;
      extent *= taken;
      next = {next.extent / taken, next.stride * taken};
    }
    size_t found = from.size();
    while (found-- > 0)
      if (!isTaken[found] && from[found] == extent && (extent == 1 || strides[found] == stride))
        break;
    if (found >= from.size())
      return std::nullopt;
    isTaken[found] = true;
    permutation[axis] = static_cast<int64_t>(found);
  }
  return permutation;
}

/// Returns the reduction again, with its reduced axes kept or not, if it then has this shape; null
/// if not.
mlir::Value reducedAgain(mlir::OpBuilder &builder, mlir::Location location, ir::ReduceOp reduce,
                         bool keepdims, const Shape &shape) {
  std::string why;
  const auto found =
      ir::inferReduce(ir::shapeOf(reduce.getInput()), reduce.getAxes(), keepdims, why);
  if (mlir::failed(found) || llvm::ArrayRef<int64_t>(*found) != llvm::ArrayRef<int64_t>(shape))
    return {};
  return builder.create<ir::ReduceOp>(location, reduce.getMonoid(), reduce.getInput(),
                                      reduce.getAxes(), keepdims);
}

} // namespace

/// Transposes one behind the other are one, or none.
mlir::Value Emitter::transposed(mlir::Value value, Shape permutation) {
  if (auto before = value.getDefiningOp<ir::TransposeOp>()) {
    for (int64_t &axis : permutation)
      axis = before.getPermutation()[axis];
    value = before.getInput();
  }
  if (std::ranges::is_sorted(permutation))
    return value;
  return builder.create<ir::TransposeOp>(location, value, permutation);
}

/// Returns the tensor behind views that only add, remove, split or merge axes, if it has this
/// shape.
std::optional<Tensor> Emitter::undone(const Tensor &input, const Shape &shape) {
  mlir::Value value = input.value;
  while (
      llvm::isa_and_nonnull<ir::ReshapeOp, ir::UnsqueezeOp, ir::SqueezeOp>(value.getDefiningOp())) {
    value = value.getDefiningOp()->getOperand(0);
    if (ir::shapeOf(value) != llvm::ArrayRef<int64_t>(shape))
      continue;
    Tensor before = input;
    before.shape = shape;
    before.value = value;
    return before;
  }
  return std::nullopt;
}

Tensor Emitter::transpose(const Tensor &input, const Shape &permutation) {
  std::string why;
  ir::Extents shape = checked(ir::inferTranspose(input.shape, permutation, why), why);
  if (!input.known)
    return viewed(input, selected({input}, transposed(input.value, permutation)),
                  [this, permutation](const Tensor &tensor) {
                    Shape all = permutation;
                    while (all.size() < tensor.shape.size())
                      all.push_back(static_cast<int64_t>(all.size()));
                    return transpose(tensor, all);
                  });
  Shape from = stridesOf(input.shape), strides;
  for (int64_t axis : permutation)
    strides.push_back(from[axis]);
  Shape target(shape.begin(), shape.end());
  Tensor result = Tensor::ofKnown(input.known->select(target, strided(target, strides, 0)),
                                  input.name.empty() ? "" : input.name + ".T");
  if (input.factors) {
    result.factors = std::make_shared<const HostTensor>(
        input.factors->select(target, strided(target, strides, 0)));
    Shape scales; // of one axis, so that their order stays
    for (const int64_t axis : permutation)
      scales.push_back(input.factorScales->shape[axis]);
    result.factorScales =
        std::make_shared<const HostTensor>(withShape(*input.factorScales, scales));
  }
  return result;
}

/// Returns the reduction of which `input` is the result, with the reduced axes kept, if it then has
/// this shape. Where the reduced axes come back, they are never away: the data dimension keeps its
/// place (DD-REDUCE).
std::optional<Tensor> Emitter::withKeptAxes(const Tensor &input, const Shape &shape) {
  auto reduce = input.known ? ir::ReduceOp() : input.value.getDefiningOp<ir::ReduceOp>();
  if (!reduce || reduce.getKeepdims())
    return std::nullopt;
  if (const mlir::Value kept = reducedAgain(builder, location, reduce, true, shape))
    return computed(input.type, kept);
  return std::nullopt;
}

/// Returns the reduction that keeps its axes and of which `input` is the result, without the
/// reduced axes, if it then has this shape and nothing else reads it: then one spelling is left of
/// a result without these axes.
std::optional<Tensor> Emitter::withoutKeptAxes(const Tensor &input, const Shape &shape) {
  auto reduce = input.value.getDefiningOp<ir::ReduceOp>();
  if (!reduce || !reduce.getKeepdims() || isFixed(input.value))
    return std::nullopt;
  if (const mlir::Value removed = reducedAgain(builder, location, reduce, false, shape))
    return selected({input}, removed);
  return std::nullopt;
}

/// Returns one transpose for a reshape to `shape` behind a reshape and a transpose, if the three
/// only permute axes.
std::optional<Tensor> Emitter::asTranspose(const Tensor &input, const Shape &shape) {
  auto transpose = input.value.getDefiningOp<ir::TransposeOp>();
  auto before = transpose ? transpose.getInput().getDefiningOp<ir::ReshapeOp>() : ir::ReshapeOp();
  if (!before)
    return std::nullopt;
  const auto shapeOf = [](mlir::Value value) {
    const auto extents = ir::shapeOf(value);
    return Shape(extents.begin(), extents.end());
  };
  const Shape middle = shapeOf(before), strides = stridesOf(middle);
  std::vector<Stride> axes;
  for (const int64_t axis : transpose.getPermutation())
    axes.push_back({middle[axis], strides[axis]});
  const auto permutation = permutationOf(shapeOf(before.getInput()), axes, shape);
  if (!permutation)
    return std::nullopt;
  return selected({input},
                  builder.create<ir::TransposeOp>(location, before.getInput(), *permutation));
}

Tensor Emitter::reshape(const Tensor &input, const Shape &shape) {
  if (shape == input.shape)
    return input;
  if (input.known)
    return Tensor::ofKnown(withShape(*input.known, shape), input.name);
  const auto view = [this, shape, rank = input.shape.size()](const Tensor &tensor) {
    return reshape(tensor, withInner(shape, tensor.shape, rank));
  };
  if (auto before = undone(input, shape))
    return viewed(input, *before, view);
  if (auto kept = withKeptAxes(input, shape))
    return *kept;
  if (auto removed = withoutKeptAxes(input, shape))
    return *removed;
  if (auto transposed = asTranspose(input, shape))
    return viewed(input, *transposed, view);
  std::string why;
  checked(ir::inferReshape(input.shape, shape, why), why);
  return viewed(
      input, selected({input}, builder.create<ir::ReshapeOp>(location, input.value, shape)), view);
}

Tensor Emitter::unsqueeze(const Tensor &input, const Shape &axes) {
  if (axes.empty())
    return input;
  std::string why;
  ir::Extents shape = checked(ir::inferUnsqueeze(input.shape, axes, why), why);
  if (input.known)
    return Tensor::ofKnown(withShape(*input.known, Shape(shape.begin(), shape.end())), input.name);
  const auto view = [this, shape, rank = input.shape.size()](const Tensor &tensor) {
    return reshape(tensor, withInner({shape.begin(), shape.end()}, tensor.shape, rank));
  };
  if (auto before = undone(input, Shape(shape.begin(), shape.end())))
    return viewed(input, *before, view);
  if (auto kept = withKeptAxes(input, Shape(shape.begin(), shape.end())))
    return *kept;
  return viewed(
      input, selected({input}, builder.create<ir::UnsqueezeOp>(location, input.value, axes)), view);
}

Tensor Emitter::squeeze(const Tensor &input, const Shape &axes) {
  if (axes.empty())
    return input;
  std::string why;
  ir::Extents shape = checked(ir::inferSqueeze(input.shape, axes, why), why);
  if (input.known)
    return Tensor::ofKnown(withShape(*input.known, Shape(shape.begin(), shape.end())), input.name);
  const auto view = [this, shape, rank = input.shape.size()](const Tensor &tensor) {
    return reshape(tensor, withInner({shape.begin(), shape.end()}, tensor.shape, rank));
  };
  if (auto before = undone(input, Shape(shape.begin(), shape.end())))
    return viewed(input, *before, view);
  if (auto removed = withoutKeptAxes(input, Shape(shape.begin(), shape.end())))
    return *removed;
  return viewed(
      input, selected({input}, builder.create<ir::SqueezeOp>(location, input.value, axes)), view);
}

Tensor Emitter::slice(const Tensor &input, const Shape &starts, const Shape &sizes,
                      const Shape &steps) {
  if (!input.known && elementCount(sizes, kMaxElements) == 0)
    return Tensor::ofKnown({input.type, sizes, {}, {}}); // known, whatever the input is
  if (input.known) {
    Shape strides = stridesOf(input.shape);
    int64_t offset = 0;
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      offset += starts[axis] * strides[axis];
      strides[axis] *= steps[axis];
    }
    return Tensor::ofKnown(input.known->select(sizes, strided(sizes, strides, offset)));
  }
  Shape whole(input.shape.size(), 1);
  if (sizes == input.shape && steps == whole)
    return input;
  std::string why;
  checked(ir::inferSlice(input.shape, starts, sizes, steps, why), why);
  return viewed(
      input,
      selected({input}, builder.create<ir::SliceOp>(location, input.value, starts, sizes, steps)),
      [this, starts, sizes, steps, rank = input.shape.size()](const Tensor &tensor) {
        const Shape inner(tensor.shape.size() - rank, 0), ones(inner.size(), 1);
        return slice(tensor, joined(starts, inner), withInner(sizes, tensor.shape, rank),
                     joined(steps, ones));
      });
}

Tensor Emitter::pad(const Tensor &input, const Shape &low, const Shape &high, float value) {
  const Shape none(input.shape.size(), 0);
  if (low == none && high == none)
    return input;
  std::string why;
  checked(ir::inferPad(input.shape, low, high, why), why);
  Tensor out =
      selected({input}, builder.create<ir::PadOp>(location, this->value(input), low, high, value));
  if (out.range)
    out.range = joined(*out.range, {value, value});
  return out;
}

/// Adds a part of a concat along `axis`: of a concat along the same axis that nothing else reads,
/// its parts.
void Emitter::addParts(const Tensor &input, int64_t axis, std::vector<Tensor> &parts) const {
  auto inner = input.known ? ir::ConcatOp() : input.value.getDefiningOp<ir::ConcatOp>();
  if (!inner || static_cast<int64_t>(inner.getAxis()) != axis || isFixed(input.value)) {
    parts.push_back(input);
    return;
  }
  for (const mlir::Value operand : inner.getInputs()) {
    Tensor &part = parts.emplace_back(input);
    const auto shape = ir::shapeOf(operand);
    part.value = operand;
    part.shape.assign(shape.begin(), shape.end());
    part.views.clear();
  }
}

Tensor Emitter::concat(const std::vector<Tensor> &inputs, int64_t axis) {
  bool allKnown = std::all_of(inputs.begin(), inputs.end(),
                              [](const Tensor &input) { return input.known != nullptr; });
  if (allKnown) {
    Shape shape = inputs.front().shape;
    shape[axis] = 0;
    for (const Tensor &input : inputs)
      shape[axis] += input.shape[axis];
    checkFolded(shape);
    HostTensor out{inputs.front().known->type, shape, {}, {}};
    int64_t outer =
        std::accumulate(shape.begin(), shape.begin() + axis, int64_t{1}, std::multiplies<>());
    for (int64_t i = 0; i < outer; ++i)
      for (const Tensor &input : inputs) {
        auto append = [&](auto &to, const auto &from) {
          size_t run = from.size() / outer;
          to.insert(to.end(), from.begin() + i * run, from.begin() + (i + 1) * run);
        };
        append(out.floats, input.known->floats);
        append(out.ints, input.known->ints);
      }
    return Tensor::ofKnown(std::move(out));
  }
  std::vector<Tensor> parts; // that have elements
  for (const Tensor &input : inputs)
    if (input.shape[axis] != 0)
      addParts(input, axis, parts);
  if (parts.size() == 1)
    return parts.front();
  const bool allCodes = llvm::all_of(parts, [](const Tensor &part) { return part.codes; });
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<ir::ExtentsRef> shapes;
  for (const Tensor &part : parts) {
    values.push_back(allCodes ? part.value : value(part));
    shapes.push_back(part.shape);
  }
  std::string why;
  checked(ir::inferConcat(shapes, axis, why), why);
  return selected(parts, builder.create<ir::ConcatOp>(location, values, axis));
}

Tensor Emitter::tile(const Tensor &input, const Shape &counts) {
  Shape wide = input.shape, others = counts;
  for (size_t axis = 0; axis < wide.size(); ++axis)
    if (wide[axis] == 1)
      wide[axis] = std::exchange(others[axis], 1);
  Tensor result = broadcast(input, wide);
  if (others == Shape(others.size(), 1))
    return result;
  std::string why;
  checked(ir::inferRepeat(wide, others, why), why);
  return selected({input}, builder.create<ir::TileOp>(location, value(result), others));
}

Tensor Emitter::repeat(const Tensor &input, int64_t axis, int64_t count) {
  if (count == 1)
    return input;
  Shape counts(input.shape.size(), 1);
  counts[axis] = count;
  if (input.shape[axis] == 1)
    return tile(input, counts);
  std::string why;
  const ir::Extents shape = checked(ir::inferRepeat(input.shape, counts, why), why);
  if (!input.known)
    return selected({input}, builder.create<ir::RepeatOp>(location, input.value, counts));
  checkFolded({shape.begin(), shape.end()});
  const int64_t run = stridesOf(input.shape)[axis];
  return Tensor::ofKnown(input.known->select({shape.begin(), shape.end()}, [&](int64_t flat) {
    return flat / (run * count) * run + flat % run;
  }));
}

Tensor Emitter::interleave(const std::vector<Tensor> &inputs, int64_t axis) {
  if (inputs.size() == 1)
    return inputs.front();
  if (std::all_of(inputs.begin(), inputs.end(), [](const Tensor &one) { return one.known; })) {
    std::vector<Tensor> wide;
    for (const Tensor &input : inputs)
      wide.push_back(unsqueeze(input, {axis + 1}));
    Shape shape = inputs.front().shape;
    shape[axis] *= static_cast<int64_t>(inputs.size());
    return reshape(concat(wide, axis + 1), shape);
  }
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<ir::ExtentsRef> shapes;
  for (const Tensor &input : inputs) {
    values.push_back(value(input));
    shapes.push_back(input.shape);
  }
  std::string why;
  checked(ir::inferInterleave(shapes, axis, why), why);
  return selected(inputs, builder.create<ir::InterleaveOp>(location, values, axis));
}

Tensor Emitter::broadcast(const Tensor &input, const Shape &shape) {
  Shape axes(shape.size() - input.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  Tensor wide = unsqueeze(input, axes);
  if (wide.shape == shape)
    return wide;
  std::string why;
  checked(ir::inferBroadcast(wide.shape, shape, why), why);
  return selected({input}, builder.create<ir::BroadcastOp>(location, value(wide), shape));
}

} // namespace sluice::frontend
