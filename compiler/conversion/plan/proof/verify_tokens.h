// The part of the proof that is about tokens.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/plan/beats/build.h"
#include "compiler/conversion/plan/proof/verify_moment.h"

namespace sluice::plan {

/// Follows the token banks of all units: gifts carry what their giver knew.
class TokenProof {
public:
  /// The last of `units` is the host port.
  TokenProof(const MachineBeats &beats, uint32_t units)
      : beats(beats), host(units - 1), banks(units) {}

  /// Whether a unit's bank has what its next beat waits for.
  [[nodiscard]] bool ready(uint32_t unit, const Wait &wait) const {
    return banks[unit][wait.token].given.size() >= wait.count;
  }

  /// Takes them for beat `beat`, which is ready; `clock` learns what they carry. What is
  /// wrong, or nothing.
  std::optional<std::string> take(uint32_t unit, const Wait &wait, uint32_t beat, Clock &clock);

  /// A beat of `giver` gives a token to the bank of `unit`, with what it knows: that
  /// includes its own arrival.
  std::optional<std::string> give(uint32_t giver, uint32_t unit, uint32_t token, Clock clock);

  /// At the end, whether the bank of a unit was given more than was taken.
  [[nodiscard]] std::optional<std::string> unbalanced(uint32_t unit) const;

private:
  struct Gift {
    uint32_t giver;
    Clock clock;
  };
  struct Token {
    std::deque<Gift> given;
    std::optional<uint32_t> giver;
    uint64_t gives = 0, takes = 0;
    /// Before which beat of its unit how many have been taken.
    std::vector<std::pair<uint32_t, uint64_t>> history;
  };

  /// Done comes once from every core that gives it before any core can give it again, so
  /// taking that many takes one of each.
  [[nodiscard]] bool isDone(uint32_t unit, uint32_t token) const {
    return unit == host && token == beats.doneToken;
  }

  const MachineBeats &beats;
  const uint32_t host;
  std::vector<std::array<Token, isa::kTokens>> banks;
};

} // namespace sluice::plan
