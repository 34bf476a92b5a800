#include "compiler/conversion/plan/search/choice.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::plan {
namespace {

/// One decision of a choice, as a phrase.
struct Decision {
  std::string text;
  bool usual = false; ///< what a plan does unless it says otherwise
};

std::string deferredText(const Tails &tails) {
  std::vector<std::string> late;
  for (size_t stage = 1; stage < tails.size(); ++stage)
    late.push_back(tails[stage] == kAll ? "all" : std::to_string(tails[stage]));
  if (std::adjacent_find(late.begin(), late.end(), std::not_equal_to<>()) == late.end())
    late.resize(1);
  return fmt::format("deferred operands {}", fmt::join(late, " "));
}

std::string chainsText(const std::map<uint32_t, Chain> &chains) {
  std::vector<std::string> texts;
  for (const auto &[stage, chain] : chains)
    texts.push_back(fmt::format("rows of stage {} computed by {} cores each, {} products apart",
                                stage, chain.cores, chain.stairs));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string tokensText(Slots slots) {
  switch (slots) {
  case Slots::One:
    return "one token per producer";
  case Slots::Many:
    return "several tokens per producer";
  case Slots::InRuns:
    return "several tokens per producer, each for a run of rows";
  }
  return {};
}

/// The place of the deferred operands among the decisions.
constexpr size_t kDeferred = 2;

/// Returns all decisions of a choice, the same ones in the same order for every choice.
std::vector<Decision> decisionsOf(const Choice &choice) {
  const PlacementOptions &placement = choice.placement;
  const SplitOptions &split = choice.split;
  std::vector<Decision> decisions{
      {fmt::format("stages of up to {} products on one core", placement.keepTogether)},
      {tokensText(choice.slots)},
      {deferredText(choice.tails)}};
  const auto decide = [&](bool taken, std::string text, std::string usual) {
    decisions.push_back({taken ? std::move(text) : std::move(usual), !taken});
  };
  decide(placement.inputsEverywhere, "inputs sent to all cores", "inputs sent to their readers");
  decide(placement.reuse != 0,
         fmt::format("row addresses reused {} stages after their last read", placement.reuse),
         "row addresses not reused");
  decide(placement.spread, "rows spread over the cores", "rows not spread over the cores");
  decide(placement.byOwn, "rows placed with the operands that only they read",
         "rows placed with most of their operands");
  decide(placement.tablesApart, "function tables partitioned over the cores",
         "function tables on every core");
  decide(!split.stages.empty(),
         fmt::format("rows of stages {} split", fmt::join(split.stages, " ")), "no rows split");
  decide(!split.chains.empty(), chainsText(split.chains), "no rows computed by several cores");
  decide(split.skew != 0, "cores finish one after the other", "cores finish together");
  decide(placement.copies > 1, fmt::format("{} copies of dynamic weights", placement.copies),
         "one copy of dynamic weights");
  decide(!placement.byOperand, "dynamic weights kept apart", "dynamic weights kept together");
  decide(placement.follow, "rows placed with their operands", "rows placed by load");
  decide(placement.byCell, "dependent rows kept together", "dependent rows not kept together");
  decide(placement.lateApart, "except the rows needed last", "the rows needed last as well");
  decide(placement.byArrival, "rows ordered by the arrival of their operands",
         "rows in the order of the model");
  decide(placement.runs != 0,
         fmt::format("{} {} of adjacent rows per core", placement.runs,
                     placement.runs == 1 ? "run" : "runs"),
         "no runs of adjacent rows");
  decide(choice.takeArrived, "each wait takes all rows that have arrived",
         "each wait takes the rows that it needs");
  decide(choice.entry.release != kNone,
         fmt::format("next inference starts after stage {}", choice.entry.release),
         "next inference starts after the last stage");
  decide(choice.entry.beforeSums, "next inference starts before the precomputed sums finish",
         "next inference starts after the precomputed sums");
  return decisions;
}

} // namespace

std::string Choice::text() const {
  std::vector<std::string> texts;
  for (Decision &decision : decisionsOf(*this))
    if (!decision.usual)
      texts.push_back(std::move(decision.text));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string Choice::differencesFrom(const Choice &chosen) const {
  const std::vector<Decision> mine = decisionsOf(*this), theirs = decisionsOf(chosen);
  std::vector<std::string> texts;
  for (size_t i = 0; i < mine.size(); ++i)
    if (mine[i].text != theirs[i].text)
      texts.push_back(i == kDeferred ? "other deferred operands" : mine[i].text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

} // namespace sluice::plan
