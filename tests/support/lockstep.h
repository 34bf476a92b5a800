// Runs one program on two engines, cycle by cycle, and compares everything that
// can be seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "tests/support/random_program.h"

namespace sluice::fixtures {

struct LockstepResult {
  std::string difference; ///< empty if there is none; else seed, cycle, what, and a listing
  uint64_t cycles = 0;
  uint64_t instructions = 0;                  ///< in the program, all cores and the host port
  std::vector<device::UnitCounters> counters; ///< of the whole run
  std::vector<device::OutputRow> outputs;     ///< in the order of their coming
};

/// Loads the program into `model` and, unless null, `other`, every list of instructions behind as
/// many others as the seed says, where it is entered, and steps them together until nothing more
/// can happen; some of them then again from what that left in the memories, with or without their
/// images. Compares, each cycle, the row taken in, the row handed out, progress, token faults and
/// the status of every unit; now and then and at the end the counters, at the end the tensor RAM.
/// With or without `other` it is a difference if the program does not take all its rows in, hand
/// all its rows out and come to rest.
LockstepResult runLockstep(const RandomProgram &random, device::Device &model,
                           device::Device *other);

} // namespace sluice::fixtures
