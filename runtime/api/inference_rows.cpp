#include "runtime/api/inference_rows.h"

#include <algorithm>

#include "runtime/api/host_input.h"
#include "runtime/api/packing.h"

namespace sluice::runtime {

size_t rowsPerStep(std::span<const format::HostTensor> tensors) {
  size_t rows = 0;
  for (const format::HostTensor &tensor : tensors)
    rows = std::max<size_t>(rows, tensor.firstRow + tensor.rows);
  return rows;
}

std::vector<Row> packInference(const format::Model &model, uint32_t lanes, const Arrays &inputs) {
  const size_t each = rowsPerStep(model.inputs);
  std::vector<Row> rows(each * model.steps);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const format::HostTensor &tensor = model.inputs[i];
    const uint32_t parts = tensor.stepAxis ? model.steps : 1;
    std::vector<uint16_t> packed(size_t{tensor.rows} * lanes * parts);
    pack(tensor, lanes, inputs[arrayOf(model, i)].data(), format::HostType::Float64, packed, parts);
    for (uint32_t step = 0; step < model.steps; ++step)
      for (uint32_t row = 0; row < tensor.rows; ++row) {
        const auto from = packed.begin() + static_cast<std::ptrdiff_t>(
                                               (size_t{step % parts} * tensor.rows + row) * lanes);
        rows[step * each + tensor.firstRow + row].assign(from, from + lanes);
      }
  }
  return rows;
}

void addDrawn(const format::Model &model, const DrawnInference &of, Arrays &inputs) {
  for (const format::HostArray &array : model.arrays)
    if (array.random) {
      const auto elements = static_cast<uint64_t>(addressing::elementsOf(array.shape));
      const auto numbers = drawnArray(*array.random, array.type, elements, of);
      inputs.emplace_back(numbers.begin(), numbers.end());
    }
}

Arrays unpackInference(const format::Model &model, uint32_t lanes,
                       std::span<const std::vector<Row>> steps) {
  Arrays outputs;
  for (const format::HostTensor &tensor : model.outputs) {
    const auto parts = tensor.stepAxis ? steps : steps.last(1);
    std::vector<uint16_t> packed;
    for (const std::vector<Row> &rows : parts)
      for (uint32_t row = 0; row < tensor.rows; ++row)
        packed.insert(packed.end(), rows[tensor.firstRow + row].begin(),
                      rows[tensor.firstRow + row].end());
    outputs.emplace_back(elementCount(tensor));
    unpack(tensor, lanes, packed, outputs.back().data(), format::HostType::Float64,
           static_cast<uint32_t>(parts.size()));
  }
  return outputs;
}

} // namespace sluice::runtime
