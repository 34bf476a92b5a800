// What the memories of a random program hold, and where in them it works.
#pragma once

#include <vector>

#include "runtime/format/program.h"
#include "tests/support/random_stream.h"
#include "tests/support/rng.h"

namespace sluice::fixtures {

/// Rows, blocks and so on that a program works on: few, so that units meet.
inline constexpr int64_t kTensorWindow = 24, kBlockWindow = 4, kAccWindow = 8, kPreloadWindow = 4;
/// The last few addresses of a memory are used now and then.
inline constexpr int64_t kEndWindow = 4;

/// The first `window` addresses of a memory, sometimes its end.
Window windowOf(Rng &rng, int64_t first, int64_t window, int64_t size);

/// Images of those windows and of at most one table: the other tables hold
/// zeros, because loading takes its time.
format::CoreImage randomMemories(Rng &rng, const format::Geometry &geometry);

/// A model whose host tensors are just what a program takes in and hands out:
/// `inputRows` rows, and the rows whose bits are set.
format::Model describeModel(const format::Geometry &geometry, uint32_t inputRows,
                            const std::vector<uint64_t> &outputRows);

} // namespace sluice::fixtures
