#include "compiler/conversion/plan/search/losers.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sluice::plan {
namespace {

/// Why a plan that ran lost, compared with the chosen one.
std::string whyOf(const Explanation &chosen, const Explanation &run) {
  if (run.cycles == chosen.cycles)
    return "as many cycles";
  if (run.cycles < chosen.cycles)
    return fmt::format("not among the {} finalists that ran back to back", kFinalists);
  const std::string change = difference(chosen, run);
  return fmt::format("{} more {}{}", run.cycles - chosen.cycles,
                     run.cycles - chosen.cycles == 1 ? "cycle" : "cycles",
                     change.empty() ? "" : " (" + change + ")");
}

} // namespace

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
  std::vector<const Rejected *> last; // what was said last of each choice, in the order of trial
  for (const Rejected &one : all | std::views::reverse)
    if (listed.insert(one.choice.text()).second)
      last.push_back(&one);
  std::ranges::reverse(last);
  // A choice was tried before its release was looked for: only one with a release is compared
  // with the chosen one's.
  std::map<std::tuple<std::optional<uint64_t>, std::string, std::string>, size_t> groups;
  for (const Rejected *one : last) {
    Loser loser;
    loser.choice = one->choice.differencesFrom(one->choice.entry == Entry() ? unreleased : chosen);
    loser.why = one->why;
    if (one->run) {
      loser.cycles = one->run->cycles;
      if (loser.why.empty())
        loser.why = whyOf(explanation, *one->run);
    }
    const auto [at, isNew] =
        groups.try_emplace({loser.cycles, loser.choice, one->why}, explanation.losers.size());
    if (isNew)
      explanation.losers.push_back(std::move(loser));
    else
      ++explanation.losers[at->second].plans;
  }
}

} // namespace sluice::plan
