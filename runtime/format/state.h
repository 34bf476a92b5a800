// A program's state as an image: rows of B lanes, in the order of its places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/format/program.h"

namespace sluice::format {

/// Rows of the image that one row of a place takes.
constexpr uint32_t imageRows(StatePlace::Memory memory) {
  return memory == StatePlace::Memory::Preloads ? 4 : 1;
}

/// Rows of the image.
size_t stateRows(const ProgramState &state);

/// What the state is when the program is loaded.
std::vector<uint16_t> initialState(const Program &program);

/// Cycles that the configuration port needs to start the machine anew with a state: the reset, a
/// write for every row, and the start.
uint64_t restartCycles(const Program &program);

} // namespace sluice::format
