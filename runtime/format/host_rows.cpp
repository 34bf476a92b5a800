#include "runtime/format/host_rows.h"

#include <algorithm>
#include <numeric>

#include "runtime/format/packed_rows.h"

namespace sluice::format {

using addressing::Addressing;
using addressing::Indices;

Addressing hostSlots(const HostTensor &tensor, uint32_t lanes, uint32_t steps) {
  const PackedRows part(tensor, steps);
  if (!tensor.stepAxis)
    return part.slots(lanes);
  // The parts, one after the other, ...
  Indices packed = part.packed, parts = part.shape;
  Indices strides = addressing::rowStrides(packed, part.dataDim, lanes);
  packed.insert(packed.begin(), steps);
  strides.insert(strides.begin(), int64_t{tensor.rows} * lanes);
  parts.insert(parts.begin(), steps);
  // ... are neighbours along the axis that they share.
  const size_t along = *tensor.stepAxis;
  Indices order(parts.size()), whole = part.shape, starts(whole.size(), 0);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + 1,
              order.begin() + static_cast<std::ptrdiff_t>(along) + 1);
  const Indices one(whole.size(), 1);
  whole[along] *= steps;
  starts[along] = tensor.skipped;
  return Addressing::strided(std::move(packed), strides)
      .reshaped(std::move(parts))
      .permuted(order)
      .reshaped(std::move(whole))
      .sliced(starts, tensor.shape, one);
}

} // namespace sluice::format
