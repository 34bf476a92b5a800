#include "compiler/conversion/plan/search/choice.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::plan {

std::string Choice::text() const {
  std::vector<std::string> late;
  for (size_t stage = 1; stage < tails.size(); ++stage)
    late.push_back(tails[stage] == kAll ? "all" : std::to_string(tails[stage]));
  if (std::adjacent_find(late.begin(), late.end(), std::not_equal_to<>()) == late.end())
    late.resize(1);
  std::string text = fmt::format(
      "stages of up to {} products on one core, {} per producer, deferred operands {}",
      placement.keepTogether, manySlots ? "several tokens" : "one token", fmt::join(late, " "));
  if (placement.inputsEverywhere)
    text += ", inputs sent to all cores";
  if (placement.reuse != 0)
    text += fmt::format(", row addresses reused {} stages after their last read", placement.reuse);
  if (placement.spread)
    text += ", rows spread over the cores";
  if (placement.tablesApart)
    text += ", function tables partitioned over the cores";
  if (!split.stages.empty())
    text += fmt::format(", rows of stages {} split", fmt::join(split.stages, " "));
  if (split.skew != 0)
    text += ", cores finish one after the other";
  if (placement.copies > 1)
    text += fmt::format(", {} copies of dynamic weights", placement.copies);
  if (!placement.byOperand)
    text += ", dynamic weights kept apart";
  if (placement.follow)
    text += ", rows placed with their operands";
  if (placement.byCell)
    text += ", dependent rows kept together";
  if (placement.lateApart)
    text += ", except the rows needed last";
  if (placement.byArrival)
    text += ", rows ordered by the arrival of their operands";
  if (placement.runs != 0)
    text += fmt::format(", {} {} of adjacent rows per core", placement.runs,
                        placement.runs == 1 ? "run" : "runs");
  if (takeArrived)
    text += ", each wait takes all rows that have arrived";
  if (entry.release != kNone)
    text += fmt::format(", next inference starts after stage {}", entry.release);
  if (entry.beforeSums)
    text += ", next inference starts before the precomputed sums finish";
  return text;
}

} // namespace sluice::plan
