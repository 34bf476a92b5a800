// Says in one sentence why a machine does not go on.
#pragma once

#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace sluice::device {

/// Where an instruction comes from: `node 2 "fc1" (Gemm)`, several joined by a
/// comma, or "" if the source map says nothing. `core` is the number of cores
/// for the host port.
std::string describeSource(const format::Program &program, uint32_t core, uint32_t instruction);

/// "no progress for 5000 cycles: the matrix unit of core 0 waits for token 3
/// (has 0, needs 1) in instruction 5, node 2 "fc1" (Gemm), reads x[0, 0..7] to x[3, 0..7]; ...".
/// Every unit that is not idle is named, those that wait for a token first.
std::string describeStall(const format::Program &program, const std::vector<UnitStatus> &units,
                          uint64_t cycles);

} // namespace sluice::device
