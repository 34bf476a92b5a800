// Entry points of a program.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::format {

/// The index of the first instruction of each core, then of the host port. If the list is empty,
/// all begin with instruction 0.
using EntryPoint = std::vector<uint32_t>;

} // namespace sluice::format
