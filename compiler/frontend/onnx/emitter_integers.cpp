// Products and views of integers that a model restores to real numbers: they are computed on the
// integers, which bf16 has, and scaled behind.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/scalars.h"
#include "mlir/IR/IRMapping.h"

namespace sluice::frontend {
namespace {

/// How many views in a chain are looked through, and how many tensors they may be views of. To look
/// through more takes too long.
constexpr unsigned kMostViews = 32, kMostSources = 64;

/// The view that gives `value`, if each of its elements is one of an operand.
ir::ViewInterface viewOf(mlir::Value value) {
  auto view = value.getDefiningOp<ir::ViewInterface>();
  return view && !view.addsElements() ? view : ir::ViewInterface();
}

} // namespace

void Emitter::setRestored(const Tensor &tensor, const Restored &from) {
  if (tensor.value)
    restoredValues.try_emplace(tensor.value, from);
}

std::optional<Emitter::Restored> Emitter::restored(const Tensor &tensor) const {
  const auto found = tensor.value ? restoredValues.find(tensor.value) : restoredValues.end();
  return found == restoredValues.end() ? std::nullopt : std::optional(found->second);
}

/// Whether all elements of `value` are those of tensors that are no views, which are added to
/// `found`. Restored integers are no view; constants are none of these tensors.
bool Emitter::findSources(mlir::Value value, unsigned depth,
                          std::vector<mlir::Value> &found) const {
  ir::ViewInterface view = viewOf(value);
  if (view && !restoredValues.contains(value))
    return depth < kMostViews &&
           llvm::all_of(
               view->getOperands(),
               [&](mlir::Value operand) { return findSources(operand, depth + 1, found); });
  found.push_back(value);
  return found.size() <= kMostSources && !value.getDefiningOp<ir::ConstantOp>();
}

/// The views of `value` with `source` in place of the tensors that they are views of.
mlir::Value Emitter::rebuilt(mlir::Value value,
                             const std::function<mlir::Value(mlir::Value)> &source) {
  ir::ViewInterface view = viewOf(value);
  if (!view || restoredValues.contains(value))
    return source(value);
  mlir::IRMapping mapping;
  for (const mlir::Value operand : view->getOperands())
    mapping.map(operand, rebuilt(operand, source));
  return builder.clone(*view, mapping)->getResult(0);
}

std::optional<Emitter::Centred> Emitter::centred(const Tensor &tensor) {
  std::vector<mlir::Value> found;
  if (!tensor.value || !findSources(tensor.value, 0, found))
    return std::nullopt;
  const auto restoredTo = [&](mlir::Value value) {
    const auto known = restoredValues.find(value);
    return known == restoredValues.end() ? std::nullopt : std::optional(known->second);
  };
  const auto first = restoredTo(found.front());
  if (llvm::any_of(found, [&](mlir::Value value) {
        const auto one = restoredTo(value);
        return !one || one->how.scale != first->how.scale;
      }))
    return std::nullopt;
  Tensor integers = tensor;
  integers.value = rebuilt(tensor.value, [&](mlir::Value value) {
    const Restored one = *restoredTo(value);
    const auto zero = static_cast<float>(one.how.zero);
    if (zero == 0)
      return one.integers;
    const auto shape = ir::shapeOf(value);
    const Tensor stored{tensor.type, {shape.begin(), shape.end()}, nullptr, one.integers, {}};
    const Tensor made = pointwise({stored}, [zero](const Scalars &s, mlir::ValueRange v) {
      return s.sub(v[0], s.constant(zero));
    });
    return made.value;
  });
  return Centred{std::move(integers), first->how.scale};
}

std::optional<Tensor> Emitter::throughViews(const Tensor &tensor,
                                            const std::function<Tensor(const Tensor &)> &function) {
  std::vector<mlir::Value> found;
  if (!tensor.value || restored(tensor) || !viewOf(tensor.value) ||
      !findSources(tensor.value, 0, found))
    return std::nullopt;
  DataType type = tensor.type;
  const mlir::Value value = rebuilt(tensor.value, [&](mlir::Value source) {
    const auto shape = ir::shapeOf(source);
    const Tensor made = function({tensor.type, {shape.begin(), shape.end()}, nullptr, source, {}});
    type = made.type;
    return made.value;
  });
  return computed(type, value);
}

std::optional<Emitter::IntegerFactors>
Emitter::integerFactors(const Tensor &x, const Tensor &weights, int64_t axis, int64_t fromLast) {
  if (!weights.factors)
    return std::nullopt;
  const HostTensor &scales = *weights.factorScales;
  Shape shape; // of the scales in the result
  if (scales.size() > 1) {
    if (scales.shape[axis] != scales.size())
      return std::nullopt;
    shape.assign(fromLast + 1, 1);
    shape[0] = scales.size();
  }
  auto integers = centred(x);
  if (!integers)
    return std::nullopt;
  return IntegerFactors{std::move(integers->integers),
                        Tensor::ofKnown(*weights.factors, weights.name),
                        Tensor::ofKnown(withShape(scales, shape)), integers->scale};
}

std::optional<Tensor>
Emitter::mergedIntegers(ir::Monoid monoid, const Tensor &input, int64_t count,
                        const std::function<Tensor(ir::Monoid, const Tensor &)> &merge) {
  const bool isMean = monoid == ir::Monoid::Mean;
  const bool isSum = isMean || monoid == ir::Monoid::Sum;
  if (!isSum && monoid != ir::Monoid::Max && monoid != ir::Monoid::Min)
    return std::nullopt;
  const auto exact = centred(input);
  if (!exact)
    return std::nullopt;
  const Tensor merged = merge(isSum ? ir::Monoid::Sum : monoid, exact->integers);
  const double factor = isMean ? exact->scale / static_cast<double>(count) : exact->scale;
  Tensor result = scaled(merged, static_cast<float>(factor));
  if (!isSum) // one of the integers, from what is least to what is most of a byte less a zero point
    setRestored(result, {merged.value, {exact->scale, 0, {-255, 255}}});
  return result;
}

Tensor Emitter::scaled(const Tensor &x, float scale) {
  return pointwise({x}, [scale](const Scalars &s, mlir::ValueRange v) {
    return s.mul(v[0], s.constant(scale));
  });
}

Tensor Emitter::scaled(const Tensor &product, const IntegerFactors &by) {
  return scaled(pointwise({product, by.scale},
                          [](const Scalars &s, mlir::ValueRange v) { return s.mul(v[0], v[1]); }),
                by.xScale);
}

} // namespace sluice::frontend
