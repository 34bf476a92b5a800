// What the emitter makes of the integers of an input: rows that the host looks up.
#include <algorithm>

#include "compiler/frontend/onnx/emitter.h"

namespace sluice::frontend {
namespace {

/// Whether the accelerator cannot have the integers themselves.
bool isBeyondExact(const Tensor &tensor) {
  return tensor.lookup && tensor.lookup->range().magnitude() > kMostExact;
}

} // namespace

/// The result of a view, which the lookups of `input` are behind too.
Tensor Emitter::viewed(const Tensor &input, Tensor result, ArrayView view) {
  result.codes = input.codes;
  if (!input.lookup || result.known)
    return result;
  result.lookup = input.lookup;
  result.views = input.views;
  result.views.push_back(std::move(view));
  return result;
}

/// An input of the function that is looked up by the integers of `by`, behind the same views.
Tensor Emitter::lookedUp(DataType type, const Tensor &by, ArrayLookup lookup) {
  Shape shape = arrays->all()[lookup.array].shape;
  shape.insert(shape.end(), lookup.inner.begin(), lookup.inner.end());
  const bool isElement = lookup.inner.empty();
  auto shared = std::make_shared<const ArrayLookup>(std::move(lookup));
  Tensor result{type, shape, nullptr, addArgument(shape, shared->array, shared, std::nullopt), {}};
  for (const ArrayView &view : by.views)
    result = view(result);
  if (isElement) {
    if (isIntegerType(type))
      result.range = shared->range();
    result.lookup = std::move(shared);
    result.views = by.views;
  }
  return result;
}

/// A function of one element of an input is a table, if the accelerator does not have the input's
/// integers. Nothing if operands depend on more than that element.
std::optional<Tensor> Emitter::pointwiseOfArray(const std::vector<Tensor> &operands,
                                                const Shape &shape, const ScalarBody &body) {
  const auto by = std::ranges::find_if(operands, isBeyondExact);
  if (by == operands.end() || by->shape != shape)
    return std::nullopt;
  std::vector<Tensor> tables;
  for (const Tensor &operand : operands) {
    const bool isSame =
        operand.lookup && operand.lookup->array == by->lookup->array && operand.shape == shape &&
        (operand.value == by->value || (operand.views.empty() && by->views.empty()));
    if (isSame)
      tables.push_back(
          Tensor::ofKnown(HostTensor::ofFloats({operand.lookup->rows()}, operand.lookup->values)));
    else if (operand.known && operand.known->size() == 1)
      tables.push_back(reshape(asFloats(operand), {1}));
    else
      return std::nullopt;
  }
  const Tensor table = folded(tables, {by->lookup->rows()}, body);
  return lookedUp(operands.front().type, *by,
                  {by->lookup->array, by->lookup->first, {}, table.known->floats});
}

std::optional<Tensor> Emitter::quantisedInput(const Tensor &x, const format::Quantisation &how) {
  const auto array = x.value ? arrays->find(x.value) : std::nullopt;
  if (!array || !isFloatType(arrays->all()[*array].type))
    return std::nullopt;
  Tensor result{x.type, x.shape, nullptr, addArgument(x.shape, *array, nullptr, how), {}};
  result.range = {static_cast<double>(how.limits.low), static_cast<double>(how.limits.high)};
  return result;
}

Tensor Emitter::chosenRows(const Tensor &table, const Tensor &indices) {
  const std::vector<int64_t> rows = arrays->choose(*indices.lookup, table.shape.front());
  ArrayLookup lookup{indices.lookup->array,
                     indices.lookup->first,
                     Shape(table.shape.begin() + 1, table.shape.end()),
                     {}};
  const Tensor floats = asFloats(table);
  const auto each = static_cast<int64_t>(floats.known->floats.size()) / table.shape.front();
  for (const int64_t row : rows) {
    const auto from = floats.known->floats.begin() + row * each;
    lookup.values.insert(lookup.values.end(), from, from + each);
  }
  return lookedUp(table.type, indices, std::move(lookup));
}

} // namespace sluice::frontend
