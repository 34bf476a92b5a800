#include "compiler/frontend/onnx/border.h"

#include <bit>

#include "runtime/format/index_code.h"

namespace sluice::frontend {
namespace {

reference::Tensor lookedUp(const ImportedTensor &argument, const reference::Tensor &integers) {
  const ArrayLookup &lookup = *argument.lookup;
  const int64_t each = static_cast<int64_t>(lookup.values.size()) / lookup.rows();
  reference::Tensor tensor(argument.shape);
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto integer = static_cast<int64_t>(integers.values[static_cast<size_t>(at / each)]);
    tensor.values[i] =
        lookup.values[static_cast<size_t>((integer - lookup.first) * each + at % each)];
  }
  return tensor;
}

} // namespace

reference::Tensors argumentsOf(const std::vector<ImportedTensor> &arguments,
                               const reference::Tensors &inputs) {
  reference::Tensors made;
  for (const ImportedTensor &argument : arguments) {
    const reference::Tensor &input = inputs[argument.array];
    reference::Tensor &tensor =
        made.emplace_back(argument.lookup ? lookedUp(argument, input) : input);
    if (argument.quantised)
      for (double &value : tensor.values)
        value = argument.quantised->integerOf(value);
  }
  return made;
}

reference::Tensors argumentsOf(const ImportedModel &model, const reference::Tensors &inputs) {
  return argumentsOf(model.inputs, inputs);
}

reference::Tensor outputOf(const ImportedTensor &output, reference::Tensor result) {
  if (output.quantised)
    for (double &value : result.values)
      value = output.quantised->numberOf(value);
  if (output.codes)
    for (double &value : result.values)
      value = format::indexOf(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16U);
  return result;
}

} // namespace sluice::frontend
