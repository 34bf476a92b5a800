// The tokens of one unit, counted while its beats are put down in program order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "compiler/conversion/plan/beats/beats.h"
#include "hw/isa/isa.h"

namespace sluice::plan {

/// When something arrives of which nothing is known but that it does.
inline constexpr uint64_t kUnknown = ~uint64_t{0};

/// What arrives in one bank, and what its unit has taken so far in program
/// order.
class Bank {
public:
  /// Rows, and behind them whatever else is announced by number.
  explicit Bank(size_t numbers) : arrivals(numbers) {}

  /// `row` is announced with `token`, estimated to be there in cycle `time`.
  void announce(rows::RowId row, uint32_t token, uint64_t time) {
    arrivals[row] = {token, ++given[token]};
    times[token].push_back(time);
  }

  /// The next beat needs `row`.
  void need(rows::RowId row) {
    const Arrival &arrival = arrivals[row];
    if (arrival.count > taken[arrival.token])
      wanted[arrival.token] = std::max(wanted[arrival.token], arrival.count);
  }

  /// The next beat needs everything that is announced with some tokens.
  void needAll(uint32_t first, uint32_t count) {
    std::copy_n(given.begin() + first, count, wanted.begin() + first);
  }

  /// The next beat's unit announces `row` to itself: so that a token never counts further than it
  /// can, the beat takes old ones. They are there, as the beats of a unit finish in order.
  void announceOwn(rows::RowId row) {
    constexpr uint32_t kOld = isa::kTokenMax / 2, kMost = isa::kTokenMax - isa::kTokenMax / 16;
    const Arrival &arrival = arrivals[row];
    if (arrival.count > taken[arrival.token] + kMost)
      wanted[arrival.token] = std::max(wanted[arrival.token], arrival.count - kOld);
  }

  /// The next beat takes all that is there in cycle `time` of what it waits for. An
  /// order that was estimated to run then still does.
  void needArrived(uint64_t time) {
    for (uint32_t token = 0; token < isa::kTokens; ++token)
      while (wanted[token] > taken[token] && wanted[token] < given[token] &&
             times[token][wanted[token]] <= time)
        ++wanted[token];
  }

  /// The waits that satisfy all needs, in token order.
  std::vector<Wait> take() {
    std::vector<Wait> waits;
    for (uint32_t token = 0; token < isa::kTokens; ++token)
      while (wanted[token] > taken[token]) {
        const uint32_t count = std::min(wanted[token] - taken[token], isa::kTokenMax);
        waits.push_back({token, count});
        taken[token] += count;
      }
    return waits;
  }

  /// Waits for what was announced to another unit's sake.
  std::vector<Wait> drain() {
    wanted = given;
    return take();
  }

private:
  struct Arrival {
    uint32_t token = 0;
    uint32_t count = 0; ///< how many the token has seen with this row; 0 never
  };
  std::vector<Arrival> arrivals;
  std::array<uint32_t, isa::kTokens> given{}, taken{}, wanted{};
  std::array<std::vector<uint64_t>, isa::kTokens> times; ///< of what is given
};

} // namespace sluice::plan
