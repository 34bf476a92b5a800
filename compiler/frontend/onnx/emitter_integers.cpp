// Products and views of integers that a model restores to real numbers: they are computed on the
// integers, which bf16 has, and scaled behind.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/scalars.h"
#include "mlir/IR/IRMapping.h"

namespace sluice::frontend {
namespace {

/// Views behind each other that are looked through; more are not worth it.
constexpr unsigned kMostViews = 32;

} // namespace

void Emitter::setRestored(const Tensor &tensor, const Restored &from) {
  if (tensor.value)
    restoredValues.try_emplace(tensor.value, from);
}

std::optional<Emitter::Restored> Emitter::restored(const Tensor &tensor) const {
  const auto found = tensor.value ? restoredValues.find(tensor.value) : restoredValues.end();
  return found == restoredValues.end() ? std::nullopt : std::optional(found->second);
}

/// Whether all elements of `value` are those of restored integers, which are added to `found`.
bool Emitter::viewsRestored(mlir::Value value, unsigned depth, std::vector<Restored> &found) const {
  if (const auto known = restoredValues.find(value); known != restoredValues.end()) {
    found.push_back(known->second);
    return true;
  }
  auto view = value.getDefiningOp<ir::ViewInterface>();
  return view && !view.addsElements() && depth < kMostViews &&
         llvm::all_of(
             view->getOperands(),
             [&](mlir::Value operand) { return viewsRestored(operand, depth + 1, found); });
}

/// The views of `value` with `leaf` in place of what they are views of.
mlir::Value
Emitter::rebuilt(mlir::Value value,
                 const std::function<mlir::Value(mlir::Value, const Restored &)> &leaf) {
  if (const auto known = restoredValues.find(value); known != restoredValues.end())
    return leaf(value, Restored(known->second));
  mlir::Operation *view = value.getDefiningOp();
  mlir::IRMapping mapping;
  for (const mlir::Value operand : view->getOperands())
    mapping.map(operand, rebuilt(operand, leaf));
  return builder.clone(*view, mapping)->getResult(0);
}

std::optional<Emitter::Centred> Emitter::centred(const Tensor &tensor) {
  std::vector<Restored> found;
  if (!tensor.value || !viewsRestored(tensor.value, 0, found))
    return std::nullopt;
  const float scale = found.front().how.scale;
  if (llvm::any_of(found, [&](const Restored &one) { return one.how.scale != scale; }))
    return std::nullopt;
  Tensor integers = tensor;
  integers.value = rebuilt(tensor.value, [&](mlir::Value value, const Restored &one) {
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
  return Centred{std::move(integers), scale};
}

std::optional<Tensor> Emitter::throughViews(const Tensor &tensor,
                                            const std::function<Tensor(const Tensor &)> &function) {
  std::vector<Restored> found;
  if (!tensor.value || restored(tensor) || !viewsRestored(tensor.value, 0, found))
    return std::nullopt;
  DataType type = tensor.type;
  const mlir::Value value = rebuilt(tensor.value, [&](mlir::Value leaf, const Restored &) {
    const auto shape = ir::shapeOf(leaf);
    const Tensor made = function({tensor.type, {shape.begin(), shape.end()}, nullptr, leaf, {}});
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
