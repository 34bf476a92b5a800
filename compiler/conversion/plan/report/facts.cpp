#include "compiler/conversion/plan/report/facts.h"

namespace sluice::plan {

std::string_view nameOf(Cause cause) {
  constexpr std::array<std::string_view, kCauses> kNames = {"pipeline", "network", "imbalance",
                                                            "vector",   "stalls",  "host"};
  return kNames[static_cast<size_t>(cause)];
}

std::string_view nameOf(Delay delay) {
  switch (delay) {
  case Delay::Products:
    return "block products";
  case Delay::VectorBeats:
    return "vector beats";
  case Delay::HostRows:
    return "host rows";
  case Delay::MatrixDepth:
    return "matrix pipeline";
  case Delay::VectorDepth:
    return "vector pipeline";
  case Delay::Network:
    return "network";
  case Delay::Arbitration:
    return "network busy";
  case Delay::PathChange:
    return "change of path";
  case Delay::OutboxFull:
    return "outbox full";
  case Delay::ResultsFull:
    return "result FIFO full";
  case Delay::Instructions:
    return "no instruction";
  case Delay::WaitBeats:
    return "wait beats";
  }
  return "";
}

uint64_t plansNotChosen(const Explanation &explanation) {
  uint64_t plans = 0;
  for (const Loser &loser : explanation.losers)
    plans += loser.plans;
  return plans;
}

const Loser *nextBest(const Explanation &explanation) {
  const Loser *best = nullptr;
  for (const Loser &loser : explanation.losers)
    if (loser.cycles && (!best || *loser.cycles < *best->cycles))
      best = &loser;
  return best;
}

} // namespace sluice::plan
