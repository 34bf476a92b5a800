// Inferences of several steps: the part of each tensor that belongs to one step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/program.h"

namespace sluice::format {

/// The most elements of a host tensor. It keeps every size computed from a shape small.
inline constexpr int64_t kTensorElements = int64_t{1} << 31;

/// The most rows that the host offers or takes in one inference of several steps.
inline constexpr uint64_t kInferenceRows = uint64_t{1} << 22;

/// Returns the number of positions in each step, along the step axis of a tensor. The last steps
/// may have positions past the end of the tensor. These are 0 in an input and unused in an output.
inline int64_t stepPositions(const HostTensor &tensor, uint32_t steps) {
  return (tensor.shape[*tensor.stepAxis] + int64_t{tensor.skipped} + steps - 1) / steps;
}

/// Returns the shape of the part of a tensor in one step.
std::vector<int64_t> stepShape(const HostTensor &tensor, uint32_t steps);

/// Returns a message if the steps of a model are invalid, apart from its tensors.
std::optional<std::string> checkSteps(const Program &program, const Model &model);

/// Returns a message if the part of a tensor in one step is invalid.
std::optional<std::string> checkStepPart(const HostTensor &tensor, bool isOutput, uint32_t steps);

} // namespace sluice::format
