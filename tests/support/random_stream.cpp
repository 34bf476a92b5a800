#include "tests/support/random_stream.h"

#include <algorithm>

namespace sluice::fixtures {

namespace {
constexpr uint32_t kMaxRing = 15; ///< what its field holds
} // namespace

Trips randomTrips(Rng &rng, uint32_t most) {
  Trips trips{1, 1, 1, 1};
  for (unsigned tries = 0; tries < 3; ++tries) {
    uint32_t &one = trips[static_cast<size_t>(rng.range(0, isa::kLoopDepth - 1))];
    const uint32_t others = beatsAt(trips, isa::kLoopDepth) / one;
    const int64_t room = most / others;
    one = static_cast<uint32_t>(rng.range(1, rng.percent(80) ? std::min<int64_t>(room, 4) : room));
  }
  return trips;
}

Trips randomTripsOf(Rng &rng, uint32_t beats) {
  Trips trips{1, 1, 1, 1};
  uint32_t left = beats;
  for (uint32_t factor = 2; factor <= left;) {
    if (left % factor != 0) {
      ++factor;
      continue;
    }
    trips[static_cast<size_t>(rng.range(0, isa::kLoopDepth - 1))] *= factor;
    left /= factor;
  }
  return trips;
}

uint32_t beatsAt(const Trips &trips, uint32_t level) {
  uint32_t beats = 1;
  for (uint32_t l = 0; l < level; ++l)
    beats *= trips[l];
  return beats;
}

Stream randomStream(Rng &rng, const Trips &trips, Window window, unsigned bits,
                    const std::vector<RegisterState> &registers) {
  Stream out;
  const int64_t span = window.high - window.low;
  const int64_t largest = (int64_t{1} << (bits - 1)) - 1;
  int64_t low = 0, high = 0; // of what is added to the base
  const auto extend = [&](int64_t reach) {
    low += std::min<int64_t>(reach, 0);
    high += std::max<int64_t>(reach, 0);
  };

  int64_t regValue = 0;
  if (!registers.empty() && rng.percent(50)) {
    const RegisterState &reg =
        registers[static_cast<size_t>(rng.range(0, static_cast<int64_t>(registers.size()) - 1))];
    const int64_t reach = reg.delta * (reg.trips - 1);
    if (std::abs(reach) <= span) {
      out.reg = reg.index;
      regValue = reg.value;
      extend(reach);
    }
  }
  const bool still = rng.percent(15);
  for (unsigned l = 0; l < isa::kLoopDepth; ++l) {
    if (trips[l] == 1) {
      if (rng.percent(30))
        out.stride[l] = static_cast<int32_t>(
            rng.pick<int64_t>({largest, -largest - 1, rng.range(-largest - 1, largest)}));
      continue;
    }
    const int64_t steps = trips[l] - 1;
    const int64_t room = still ? 0 : (span - (high - low)) / steps;
    const int64_t most = std::min(largest, rng.percent(70) ? std::min<int64_t>(room, 3) : room);
    out.stride[l] = static_cast<int32_t>(rng.range(-most, most));
    extend(out.stride[l] * steps);
  }
  const int64_t base = rng.range(window.low - low, window.high - high) - regValue;
  out.base = static_cast<uint32_t>(base & ((int64_t{1} << bits) - 1));
  return out;
}

Stream randomRing(Rng &rng, const Trips &trips, Window window, unsigned bits,
                  const std::vector<RegisterState> &registers) {
  // Whole rings inside the window: the numbers of the first and of the last.
  const auto rings = [&](uint32_t ring) {
    const int64_t rows = int64_t{1} << ring;
    return Window{(window.low + rows - 1) / rows, (window.high + 1) / rows - 1};
  };
  uint32_t most = 0;
  for (uint32_t ring = 1; ring <= kMaxRing && rings(ring).low <= rings(ring).high; ++ring)
    most = ring;
  if (most == 0)
    return randomStream(rng, trips, window, bits, registers);

  Stream out;
  out.ring = static_cast<uint32_t>(rng.range(1, most));
  const Window which = rings(out.ring);
  const int64_t rows = int64_t{1} << out.ring;
  out.base =
      static_cast<uint32_t>(rng.range(which.low, which.high) * rows + rng.range(0, rows - 1));
  const int64_t largest = (int64_t{1} << (bits - 1)) - 1;
  for (int32_t &stride : out.stride)
    stride =
        static_cast<int32_t>(rng.percent(60) ? rng.range(-3, 3) : rng.range(-largest - 1, largest));
  if (!registers.empty() && rng.percent(60))
    out.reg =
        registers[static_cast<size_t>(rng.range(0, static_cast<int64_t>(registers.size()) - 1))]
            .index;
  return out;
}

} // namespace sluice::fixtures
