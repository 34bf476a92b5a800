// Where a program is entered.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::format {

/// Where every sequencer begins, by core, the host port last. Empty: with instruction 0.
using EntryPoint = std::vector<uint32_t>;

} // namespace sluice::format
