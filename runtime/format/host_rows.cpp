#include "runtime/format/host_rows.h"

#include "runtime/format/steps.h"

namespace sluice::format {

using addressing::Addressing;
using addressing::Indices;

Addressing hostSlots(const HostTensor &tensor, uint32_t lanes, uint32_t steps) {
  Indices part = stepShape(tensor, steps);
  Indices strides = addressing::rowStrides(part, tensor.dataDim, lanes);
  if (!tensor.stepAxis)
    return Addressing::strided(std::move(part), strides);
  // The parts are one more axis, in front of the one that they share.
  const size_t along = *tensor.stepAxis;
  const auto place = static_cast<std::ptrdiff_t>(along);
  Indices whole = part, starts(part.size(), 0);
  const Indices one(part.size(), 1);
  whole[along] *= steps;
  starts[along] = tensor.skipped;
  part.insert(part.begin() + place, steps);
  strides.insert(strides.begin() + place, int64_t{tensor.rows} * lanes);
  return Addressing::strided(std::move(part), strides)
      .reshaped(std::move(whole))
      .sliced(starts, tensor.shape, one);
}

} // namespace sluice::format
