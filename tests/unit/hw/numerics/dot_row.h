// dotAccumulate on any weights and from zero, in the lanes that slow formulations
// work with.
#pragma once

#include <vector>

#include "hw/numerics/numerics.h"

namespace sluice::numerics::testing {

/// out[j] = what the chain of output lane j delivers.
inline void dotRow(std::span<const uint16_t> x, const uint16_t *weights, unsigned peTerms,
                   std::span<AccLane> out) {
  const size_t lanes = x.size();
  std::vector<uint16_t> flushed(weights, weights + lanes * lanes);
  for (uint16_t &weight : flushed)
    weight = flushWeight(weight);
  std::vector<int64_t> m(lanes), q(lanes);
  std::vector<uint8_t> poison(lanes);
  const AccRow acc{m, q, poison};
  dotAccumulate(TowardZero(), x, flushed.data(), peTerms, acc);
  for (size_t i = 0; i < lanes; ++i)
    out[i] = acc.lane(i);
}

} // namespace sluice::numerics::testing
