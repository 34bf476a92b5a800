#include "compiler/conversion/plan/search/losers.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace sluice::plan {

void Losers::add(const Choice &choice, const Candidate &candidate, std::optional<Explanation> run) {
  std::string why;
  if (candidate.stuck != Stuck::No) {
    why = "the rows cannot be ordered";
  } else if (!candidate.fits) {
    why = excessText(candidate.use);
  } else if (!run) {
    why = "stalls";
  }
  add(choice, std::move(run), std::move(why));
}

void Losers::describe(const Choice &chosen, Explanation &explanation) const {
  explanation.choice = chosen.text();
  Choice unreleased = chosen;
  unreleased.entry = {};
  std::set<std::string> listed{unreleased.text(), explanation.choice};
  for (const Rejected &one : all | std::views::reverse) {
    if (!listed.insert(one.choice).second)
      continue;
    Loser loser{one.choice, std::nullopt, one.why};
    if (one.run) {
      loser.cycles = one.run->cycles;
      if (loser.why.empty() && *loser.cycles < explanation.cycles)
        loser.why = fmt::format("not among the {} finalists that ran back to back", kFinalists);
      const std::string change = difference(explanation, *one.run);
      loser.why += (loser.why.empty() || change.empty() ? "" : ", ") + change;
    }
    explanation.losers.push_back(std::move(loser));
  }
  std::reverse(explanation.losers.begin(), explanation.losers.end());
}

} // namespace sluice::plan
