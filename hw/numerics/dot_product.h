// The implementations of dotAccumulate's inner loop, for it and for its test.
#pragma once

#include <cstdint>
#include <span>

namespace sluice::numerics {

/// One implementation: dotAccumulate but for the poison, with the host rounding
/// toward zero.
struct DotBody {
  const char *name;
  void (*add)(const uint16_t *x, const uint16_t *weights, unsigned lanes, unsigned peTerms,
              int64_t *m, int64_t *q);
};

/// Those this host can run, the fastest first.
std::span<const DotBody> dotBodies();

} // namespace sluice::numerics
