// The inputs of a model as the user provides them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/packed_rows.h"
#include "runtime/format/program.h"

namespace sluice::runtime {

/// An input of the user, or an array of random numbers: an entry of Model::arrays or, if the model
/// has none, of Model::inputs. It is valid as long as the model.
struct HostInput {
  const std::string &name;
  const std::vector<int64_t> &shape;
  format::HostType type;
  std::optional<format::Limits> limits;
};

/// Returns the number of the user's inputs; arrays of random numbers follow them.
inline size_t inputCount(const format::Model &model) {
  const auto isUsers = [](const format::HostArray &array) { return !array.random; };
  return model.arrays.empty() ? model.inputs.size()
                              : static_cast<size_t>(std::ranges::count_if(model.arrays, isUsers));
}

/// Returns the index of the input of the user from which the host computes an input of the program.
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

/// Whether inputs of a model are parts of arrays, or nothing is made of some array. Each array was
/// one input of the compiled function then.
inline bool selectsInputs(const format::Model &model) {
  std::vector<bool> isRead(model.arrays.size());
  for (size_t i = 0; i < model.inputs.size() && !model.arrays.empty(); ++i)
    isRead[arrayOf(model, i)] = true;
  const auto isPart = [](const format::HostTensor &input) { return input.selection.has_value(); };
  return std::ranges::any_of(model.inputs, isPart) || !std::ranges::all_of(isRead, std::identity());
}

/// Returns the data dimension of the first tensor that the host computes from an array. If that is
/// an axis of the rows of a table, or if nothing is made from the array, returns the last axis.
inline uint32_t dataDimOf(const format::Model &model, size_t array) {
  const size_t rank = hostInput(model, array).shape.size();
  const auto last = static_cast<uint32_t>(rank == 0 ? 0 : rank - 1);
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (arrayOf(model, i) == array)
      return std::min(format::PackedRows(model.inputs[i], model.steps).tensorDim(), last);
  return last;
}

} // namespace sluice::runtime
