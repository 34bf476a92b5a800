#include "compiler/conversion/plan/proof/verify_tokens.h"

#include <bit>

#include <fmt/format.h>

namespace sluice::plan {

std::optional<std::string> TokenProof::take(uint32_t unit, const Wait &wait, uint32_t beat,
                                            Clock &clock) {
  if (wait.count == 0)
    return std::nullopt;
  Token &token = banks[unit][wait.token];
  std::optional<std::string> wrong;
  // Other tokens have one producer, whose last gift knows of those before.
  clock.merge(token.given[wait.count - 1].clock);
  if (isDone(unit, wait.token)) {
    uint64_t givers = 0;
    for (uint32_t i = 0; i < wait.count; ++i) {
      clock.merge(token.given[i].clock);
      givers |= uint64_t{1} << token.given[i].giver;
    }
    if (static_cast<uint32_t>(std::popcount(givers)) != wait.count ||
        wait.count != beats.busyCores || token.given.size() != wait.count)
      wrong = "does not wait for every core once";
  }
  token.given.erase(token.given.begin(), token.given.begin() + wait.count);
  token.takes += wait.count;
  token.history.emplace_back(beat, token.takes);
  return wrong;
}

std::optional<std::string> TokenProof::give(uint32_t giver, uint32_t unit, uint32_t index,
                                            Clock clock) {
  Token &token = banks[unit][index];
  const bool shared = isDone(unit, index);
  if (token.giver.value_or(giver) != giver && !shared)
    return fmt::format("token {} has two producers", index);
  token.giver = giver;
  // What the giver does not know to be taken may all still be there.
  const auto later = std::upper_bound(
      token.history.begin(), token.history.end(), clock.issued[unit],
      [](uint32_t beat, const std::pair<uint32_t, uint64_t> &entry) { return beat < entry.first; });
  const uint64_t taken = later == token.history.begin() ? 0 : std::prev(later)->second;
  clock.arrived[giver] = clock.issued[giver];
  token.given.push_back({giver, clock});
  ++token.gives;
  if (!shared && token.gives - taken > isa::kTokenMax)
    return fmt::format("token {} may count to {}, allowed: at most {}", index, token.gives - taken,
                       isa::kTokenMax);
  return std::nullopt;
}

std::optional<std::string> TokenProof::unbalanced(uint32_t unit) const {
  for (uint32_t index = 0; index < isa::kTokens; ++index)
    if (const Token &token = banks[unit][index]; token.gives != token.takes)
      return fmt::format("token {} is signaled {} times and consumed {} times", index, token.gives,
                         token.takes);
  return std::nullopt;
}

} // namespace sluice::plan
