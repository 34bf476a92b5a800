// Random contents of the machine's memories, rich in corner cases.
#pragma once

#include <vector>

#include "runtime/format/images.h"
#include "tests/support/rng.h"

namespace sluice::fixtures {

/// A bf16 row: mostly ordinary values, sometimes any exponent, sometimes
/// zeros, denormals, infinities and NaN in between.
std::vector<uint16_t> randomRow(Rng &rng, uint32_t lanes);

/// Finite bf16 weights of one block.
std::vector<uint16_t> randomWeights(Rng &rng, uint32_t lanes);

/// Accumulator lanes as images.
std::vector<uint64_t> randomPreload(Rng &rng, uint32_t lanes);

format::TableImage randomTable(Rng &rng, uint32_t table);

/// An fp32 immediate.
uint32_t randomImmediate(Rng &rng);

} // namespace sluice::fixtures
