// The image of the state of a program: rows of lanes, in the order of ProgramState::places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/format/program.h"

namespace sluice::format {

/// Returns the number of rows in the image for one row of a place.
constexpr uint32_t imageRows(StatePlace::Memory memory) {
  return memory == StatePlace::Memory::Preloads ? 4 : 1;
}

/// Returns the number of rows of the image.
size_t stateRows(const ProgramState &state);

/// Returns the image of the state after loading.
std::vector<uint16_t> initialState(const Program &program);

/// Returns the cycles in which the configuration port restarts the machine with a state: the reset,
/// one write for each row, and the start.
uint64_t restartCycles(const Program &program);

} // namespace sluice::format
