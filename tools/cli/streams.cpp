#include "tools/cli/streams.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

/// The kinds of switches with their names.
using Kind = std::pair<const char *, std::optional<uint64_t> Streams::Costs::*>;
constexpr Kind kKinds[] = {{"reset", &Streams::Costs::reset},
                           {"save", &Streams::Costs::save},
                           {"restore", &Streams::Costs::restore}};

} // namespace

/// Whether a stream begins from its first state again.
bool Streams::resets(uint64_t i) const {
  const uint64_t step = i / rounds.streams;
  return step != 0 && resetEvery != 0 && step % resetEvery == 0;
}

uint64_t Streams::number(uint64_t i) const {
  const uint64_t step = i / rounds.streams;
  return resetEvery == 0 ? step : step % resetEvery;
}

bool Streams::switches(uint64_t i) const { return i > 0 && (rounds.streams > 1 || resets(i)); }

std::optional<Problem> Streams::before(uint64_t i) {
  const std::string &state = states[i % rounds.streams];
  const bool initial = state.empty() || resets(i);
  if (initial ? !switches(i) : i > 0 && !switches(i))
    return std::nullopt; // it has been loaded, or goes on
  if (auto wrong = initial ? engine.reset() : engine.restore(state))
    return wrong;
  std::optional<uint64_t> &most = initial ? taken.reset : taken.restore;
  most = std::max(most.value_or(0), engine.switchCycles());
  return std::nullopt;
}

std::optional<Problem> Streams::after(uint64_t i, bool keep) {
  const bool goesOn = rounds.streams > 1 && i + rounds.streams < rounds.all();
  if (!keep && (!goesOn || resets(i + rounds.streams)))
    return std::nullopt;
  if (auto wrong = engine.save(states[i % rounds.streams]))
    return wrong;
  taken.save = std::max(taken.save.value_or(0), engine.switchCycles());
  return std::nullopt;
}

std::string costsText(const Streams::Costs &costs) {
  std::string text;
  for (const auto &[name, cost] : kKinds)
    if (const std::optional<uint64_t> cycles = costs.*cost)
      text +=
          fmt::format("{} {} {}{}", text.empty() ? "a" : ", a", name,
                      text.empty() ? fmt::format("takes {}", *cycles) : fmt::format("{}", *cycles),
                      text.empty() ? " cycles" : "");
  return text;
}

void addCosts(const Streams::Costs &costs, Json &to) {
  for (const auto &[name, cost] : kKinds)
    if (const std::optional<uint64_t> cycles = costs.*cost)
      to[fmt::format("{}_cycles", name)] = *cycles;
}

} // namespace sluice::cli
