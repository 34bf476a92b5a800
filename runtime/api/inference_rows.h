// The rows of one inference at the host port, from and to float64 arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/format/program.h"

namespace sluice::runtime {

using Row = std::vector<uint16_t>;               ///< bf16, one element per lane
using Arrays = std::vector<std::vector<double>>; ///< row-major, one per tensor

/// Returns the rows that the tensors have in one step.
size_t rowsPerStep(std::span<const format::HostTensor> tensors);

/// Packs the arrays of the host: the rows of one inference that it offers, step after step. A
/// tensor without a step axis is offered in every step.
std::vector<Row> packInference(const format::Model &model, uint32_t lanes, const Arrays &inputs);

/// Unpacks the outputs from the rows of the steps, which stand by address. A tensor without a step
/// axis has the value of the last step.
Arrays unpackInference(const format::Model &model, uint32_t lanes,
                       std::span<const std::vector<Row>> steps);

} // namespace sluice::runtime
