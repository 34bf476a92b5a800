// The random numbers that the host draws for an inference.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/format/host_tensor.h"

namespace sluice::runtime {

/// The place of an inference in the sequence of random numbers: the numbers of an array follow from
/// it and from the description of the array alone.
struct DrawnInference {
  uint64_t seed = 0;
  uint64_t inference = 0; ///< since the seed was set
};

/// Returns the elements of an array of random numbers, row-major, each rounded to the type of the
/// array and to float32.
std::vector<float> drawnArray(const random::RandomNumbers &numbers, format::HostType type,
                              uint64_t elements, const DrawnInference &of);

} // namespace sluice::runtime
