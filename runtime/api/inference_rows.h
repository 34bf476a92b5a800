// Conversion between float64 arrays and the rows of one inference at the host port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/api/drawn_array.h"
#include "runtime/format/program.h"

namespace sluice::runtime {

using Row = std::vector<uint16_t>;               ///< bf16, one element per lane
using Arrays = std::vector<std::vector<double>>; ///< row-major, one per tensor

/// Returns the number of rows of all tensors in one step.
size_t rowsPerStep(std::span<const format::HostTensor> tensors);

/// Packs the inputs of one inference into rows, in the order in which the host offers them, step
/// after step. A tensor without a step axis has its rows in every step. `inputs` ends with the
/// arrays of random numbers.
std::vector<Row> packInference(const format::Model &model, uint32_t lanes, const Arrays &inputs);

/// Appends the arrays of random numbers to the inputs of the user.
void addDrawn(const format::Model &model, const DrawnInference &of, Arrays &inputs);

/// Unpacks the outputs of one inference. `steps` has the rows of each step, ordered by address. A
/// tensor without a step axis has the value of the last step.
Arrays unpackInference(const format::Model &model, uint32_t lanes,
                       std::span<const std::vector<Row>> steps);

} // namespace sluice::runtime
