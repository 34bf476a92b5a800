#include "runtime/format/steps.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sluice::format {

std::vector<int64_t> stepShape(const HostTensor &tensor, uint32_t steps) {
  std::vector<int64_t> shape = tensor.shape;
  if (tensor.stepAxis)
    shape[*tensor.stepAxis] = stepPositions(tensor, steps);
  return shape;
}

std::optional<std::string> checkSteps(const Program &program, const Model &model) {
  if (model.steps == 0)
    return "the number of steps is 0, allowed: 1 or more";
  if (model.steps == 1)
    return std::nullopt;
  // Each inference starts the whole machine anew.
  if (program.models.size() > 1)
    return fmt::format("the number of steps is {}, allowed in a program of several models: 1",
                       model.steps);
  if (std::ranges::none_of(model.inputs,
                           [](const HostTensor &one) { return one.stepAxis.has_value(); }))
    return fmt::format("the model has {} steps, but no input has a step axis", model.steps);
  for (const auto &[what, tensors] :
       {std::pair("input", &model.inputs), std::pair("output", &model.outputs)}) {
    uint64_t rows = 0;
    for (const HostTensor &tensor : *tensors)
      rows += tensor.rows;
    if (rows > kInferenceRows / model.steps)
      return fmt::format("{} steps of {} {} rows each are too many, allowed: up to {} rows in all",
                         model.steps, rows, what, kInferenceRows);
  }
  return std::nullopt;
}

std::optional<std::string> checkStepPart(const HostTensor &tensor, bool isOutput, uint32_t steps) {
  if (!tensor.stepAxis)
    return tensor.skipped == 0
               ? std::nullopt
               : std::optional<std::string>("the tensor skips positions but has no step axis");
  if (steps == 1)
    return "the tensor has a step axis, but the model has only one step";
  if (*tensor.stepAxis >= tensor.shape.size())
    return fmt::format("the step axis is {}, the rank is {}", *tensor.stepAxis,
                       tensor.shape.size());
  if (!isOutput && tensor.skipped != 0)
    return fmt::format("the tensor skips {} positions, allowed in an input: 0", tensor.skipped);
  const int64_t positions = tensor.shape[*tensor.stepAxis] + int64_t{tensor.skipped};
  if (positions > kTensorElements)
    return fmt::format("the tensor has {} positions along axis {}, allowed: up to {}", positions,
                       *tensor.stepAxis, kTensorElements);
  return std::nullopt;
}

} // namespace sluice::format
