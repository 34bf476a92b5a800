// Keeps random programs free of deadlock. Instructions are made in one order
// over all cores, and a wait only takes what instructions before it in that
// order have given: then the first unfinished one can always go on. Loops count
// as often as they run: a body may take, per trip, what it gives itself before,
// and its share of what was there when the loop began.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/isa/isa.h"

namespace sluice::fixtures {

class TokenLedger {
public:
  explicit TokenLedger(uint32_t units) : banks(units) {}

  void openLoop(uint32_t trips) {
    frames.push_back({banks, trips});
    for (Bank &bank : banks)
      for (int64_t &tokens : bank.sure)
        tokens /= trips;
    times *= trips;
  }
  void closeLoop() {
    const Frame frame = frames.back();
    frames.pop_back();
    times /= frame.trips;
    for (size_t unit = 0; unit < banks.size(); ++unit)
      for (unsigned token = 0; token < isa::kTokens; ++token) {
        const int64_t before = frame.before[unit].sure[token];
        banks[unit].sure[token] =
            before + (banks[unit].sure[token] - before / frame.trips) * frame.trips;
      }
  }

  /// Tokens that are certain to come.
  int64_t available(uint32_t unit, unsigned token) const { return banks[unit].sure[token]; }
  void take(uint32_t unit, unsigned token, int64_t amount) { banks[unit].sure[token] -= amount; }

  /// Whether so many more can never overflow the counter, however late they are taken.
  bool mayGive(uint32_t unit, unsigned token, int64_t amount) const {
    return banks[unit].given[token] + amount * times <= isa::kTokenMax;
  }
  void give(uint32_t unit, unsigned token, int64_t amount) {
    banks[unit].sure[token] += amount;
    banks[unit].given[token] += amount * times;
  }

  /// How often the innermost loop's body runs in all.
  int64_t repetitions() const { return times; }

private:
  struct Bank {
    std::array<int64_t, isa::kTokens> sure{};
    std::array<int64_t, isa::kTokens> given{}; ///< over the whole run
  };
  struct Frame {
    std::vector<Bank> before;
    int64_t trips = 1;
  };
  std::vector<Bank> banks;
  std::vector<Frame> frames;
  int64_t times = 1;
};

} // namespace sluice::fixtures
