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
      "stages up to {} products on one core, {} per producer, late operands {}",
      placement.keepTogether, manySlots ? "several tokens" : "one token", fmt::join(late, " "));
  if (placement.inputsEverywhere)
    text += ", inputs to all cores";
  if (placement.reuse != 0)
    text += fmt::format(", rows' places free {} stages behind their readers", placement.reuse);
  if (placement.spread)
    text += ", rows spread over the cores";
  if (placement.tablesApart)
    text += ", functions shared out over the cores";
  if (!split.stages.empty())
    text += fmt::format(", rows of stages {} split", fmt::join(split.stages, " "));
  if (split.skew != 0)
    text += ", cores end in turn";
  if (placement.copies > 1)
    text += fmt::format(", {} copies of written weights", placement.copies);
  if (!placement.byOperand)
    text += ", written weights apart";
  if (placement.follow)
    text += ", rows where their operands are";
  if (placement.byCell)
    text += ", rows that are computed of each other together";
  if (placement.lateApart)
    text += ", but for those that are needed last";
  if (placement.byArrival)
    text += ", rows in the order of their operands";
  if (placement.runs != 0)
    text += fmt::format(", {} {} of neighbouring rows on a core", placement.runs,
                        placement.runs == 1 ? "run" : "runs");
  if (takeArrived)
    text += ", waits for all that is there";
  if (entry.release != kNone)
    text += fmt::format(", next inference after stage {}", entry.release);
  if (entry.beforeSums)
    text += ", next inference before the sums ahead are done";
  return text;
}

} // namespace sluice::plan
