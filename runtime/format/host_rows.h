// Where the elements of a tensor are at the host port.
#pragma once

#include "runtime/addressing/addressing.h"
#include "runtime/format/host_tensor.h"

namespace sluice::format {

/// Lane l of row r of a tensor is address r * lanes + l, the rows counted from the tensor's first
/// one; with a part for each of `steps` steps, the rows of all of them, step after step.
addressing::Addressing hostSlots(const HostTensor &tensor, uint32_t lanes, uint32_t steps = 1);

} // namespace sluice::format
