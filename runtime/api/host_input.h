// The inputs of a model as the host gives them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/packed_rows.h"
#include "runtime/format/program.h"

namespace sluice::runtime {

/// An array or, where the model has none, the tensor itself; lives as long as the model.
struct HostInput {
  const std::string &name;
  const std::vector<int64_t> &shape;
  format::HostType type;
  std::optional<format::Limits> limits;
};

inline size_t inputCount(const format::Model &model) {
  return model.arrays.empty() ? model.inputs.size() : model.arrays.size();
}

/// The array of the host that an input is made from.
inline size_t arrayOf(const format::Model &model, size_t input) {
  return model.arrays.empty() ? input : model.inputs[input].array;
}

inline HostInput hostInput(const format::Model &model, size_t array) {
  if (model.arrays.empty()) {
    const format::HostTensor &tensor = model.inputs[array];
    return {tensor.name, tensor.shape, tensor.type, tensor.limits};
  }
  const format::HostArray &one = model.arrays[array];
  return {one.name, one.shape, one.type, one.limits};
}

/// The axis along the lanes of the first tensor that is made from an array; the last axis of the
/// array where that is one of the table's rows.
inline uint32_t dataDimOf(const format::Model &model, size_t array) {
  size_t first = 0;
  while (arrayOf(model, first) != array)
    ++first;
  const uint32_t dim = format::PackedRows(model.inputs[first], model.steps).tensorDim();
  const size_t rank = hostInput(model, array).shape.size();
  return std::min(dim, static_cast<uint32_t>(rank == 0 ? 0 : rank - 1));
}

} // namespace sluice::runtime
