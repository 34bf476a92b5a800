// Random loop nests and affine address streams that stay inside a window.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/isa/isa.h"
#include "tests/support/rng.h"

namespace sluice::fixtures {

using Trips = std::array<uint32_t, isa::kLoopDepth>;

/// Addresses low..high.
struct Window {
  int64_t low = 0;
  int64_t high = 0;
};

/// What an address register is known to hold: value + k*delta, k < trips.
struct RegisterState {
  uint32_t index = 0;
  int64_t value = 0;
  int64_t delta = 0;
  int64_t trips = 1;
};

/// One operand's addresses.
struct Stream {
  uint32_t base = 0;
  std::array<int32_t, isa::kLoopDepth> stride{};
  uint32_t reg = 0;
  uint32_t ring = 0; ///< log2 of its addresses; 0: none
};

/// At most `most` beats.
Trips randomTrips(Rng &rng, uint32_t most);

/// Exactly `beats` beats.
Trips randomTripsOf(Rng &rng, uint32_t beats);

/// Beats that are first (or last) at `level`.
uint32_t beatsAt(const Trips &trips, uint32_t level);

/// A stream of `bits` wide addresses with strides of as many bits, inside the
/// window on every beat. Loops of one trip may have any stride, the extreme ones
/// included. May use one of the registers.
Stream randomStream(Rng &rng, const Trips &trips, Window window, unsigned bits,
                    const std::vector<RegisterState> &registers);

/// A stream of a ring inside the window: any base in it, any strides and registers.
Stream randomRing(Rng &rng, const Trips &trips, Window window, unsigned bits,
                  const std::vector<RegisterState> &registers);

} // namespace sluice::fixtures
