// The places of the elements of a tensor in the rows at the host port.
#pragma once

#include "runtime/addressing/addressing.h"
#include "runtime/format/host_tensor.h"

namespace sluice::format {

/// Returns the addressing of a tensor. Lane l of row r has the address r * lanes + l; rows count
/// from the first row of the tensor. With several steps, the rows of all steps follow each other.
addressing::Addressing hostSlots(const HostTensor &tensor, uint32_t lanes, uint32_t steps = 1);

} // namespace sluice::format
