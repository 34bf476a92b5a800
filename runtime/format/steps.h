// Models of several steps: which part of a tensor one of them has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/program.h"

namespace sluice::format {

/// Elements of a host tensor; keeps every size computed from a shape small.
inline constexpr int64_t kTensorElements = int64_t{1} << 31;

/// Most rows that the host may offer, or take, for one inference of several steps.
inline constexpr uint64_t kInferenceRows = uint64_t{1} << 22;

/// Positions of a tensor along its step axis that each of `steps` steps has. The last ones may have
/// some beyond its end, which are zero in an input and belong to nothing in an output.
inline int64_t stepPositions(const HostTensor &tensor, uint32_t steps) {
  return (tensor.shape[*tensor.stepAxis] + int64_t{tensor.skipped} + steps - 1) / steps;
}

/// The shape of the part that the rows of one step carry.
std::vector<int64_t> stepShape(const HostTensor &tensor, uint32_t steps);

/// What is wrong with the steps of a model, its tensors aside, or nothing.
std::optional<std::string> checkSteps(const Program &program, const Model &model);

/// What is wrong with the part of a tensor that a step has, or nothing.
std::optional<std::string> checkStepPart(const HostTensor &tensor, bool isOutput, uint32_t steps);

} // namespace sluice::format
