#include "compiler/pipeline/host_arrays.h"

#include <algorithm>

#include "hw/numerics/numerics.h"

namespace sluice::pipeline {

format::HostTensor hostTensor(const frontend::ImportedTensor &imported) {
  format::HostTensor tensor{imported.name, imported.shape, imported.type};
  tensor.limits = imported.limits;
  return tensor;
}

format::Lookup lookupOf(const frontend::ArrayLookup &from) {
  format::Lookup lookup{from.first, 1, {}};
  for (const int64_t extent : from.inner)
    lookup.rowElements *= static_cast<uint32_t>(extent);
  for (const float value : from.values)
    lookup.values.push_back(numerics::roundToBf16(value));
  const auto half = static_cast<ptrdiff_t>(lookup.values.size() / 2);
  if (lookup.first == -lookup.rows() / 2 && lookup.rows() % 2 == 0 &&
      std::equal(lookup.values.begin(), lookup.values.begin() + half,
                 lookup.values.begin() + half)) {
    lookup.values.erase(lookup.values.begin(), lookup.values.begin() + half);
    lookup.first = 0;
  }
  return lookup;
}

void setArrays(const CompileResult &result, format::Model &model) {
  for (size_t i = 0; i < result.given.size(); ++i)
    model.outputs[i].codes = result.given[i].codes;
  if (result.made.empty())
    return;
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (const auto &lookup = result.made[i].lookup)
      model.inputs[i].lookup = lookupOf(*lookup);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    model.inputs[i].quantised = result.made[i].quantised;
    model.inputs[i].selection = result.made[i].selection;
  }
  for (size_t i = 0; i < model.outputs.size(); ++i)
    model.outputs[i].quantised = result.given[i].quantised;
  for (const frontend::ImportedTensor &one : result.arrays)
    model.arrays.push_back({one.name, one.shape, one.type, one.limits, one.random});
  for (size_t i = 0; i < model.inputs.size() && !model.arrays.empty(); ++i) {
    format::HostTensor &input = model.inputs[i];
    input.array = static_cast<uint32_t>(result.made[i].array);
    if (input.selection)
      continue;
    // Streaming may have left a part of it.
    const auto rank = static_cast<ptrdiff_t>(model.arrays[input.array].shape.size());
    model.arrays[input.array].shape.assign(input.shape.begin(), input.shape.begin() + rank);
  }
}

} // namespace sluice::pipeline
