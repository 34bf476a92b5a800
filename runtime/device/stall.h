// Description of a stall: why a machine makes no progress.
#pragma once

#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace sluice::device {

/// Returns the source nodes of an instruction: `node 2 "fc1" (Gemm)`, several separated by commas,
/// or an empty text if the source map has none. `core` is the number of cores for the host port.
std::string describeSource(const format::Program &program, uint32_t core, uint32_t instruction);

/// Returns "no progress for 5000 cycles: the matrix unit of core 0 waits for token 3
/// (has 0, needs 1) in instruction 5, node 2 "fc1" (Gemm), reads x[0, 0..7] to x[3, 0..7]; ...".
/// The text names every unit that is not idle. Units that wait for a token come first.
std::string describeStall(const format::Program &program, const std::vector<UnitStatus> &units,
                          uint64_t cycles);

} // namespace sluice::device
