// Deterministic random numbers: the same on every platform and library.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace sluice::fixtures {

/// SplitMix64.
class Rng {
public:
  explicit Rng(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// Uniform in low..high, both included.
  int64_t range(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool percent(unsigned chance) { return next() % 100 < chance; }
  template <class T> T pick(std::initializer_list<T> values) {
    return values.begin()[next() % values.size()];
  }

private:
  uint64_t state;
};

} // namespace sluice::fixtures
