#include "compiler/conversion/model/fastest_plan.h"

#include <algorithm>

#include "compiler/conversion/loops/loop_plan.h"

namespace sluice::conversion {
namespace {

bool makePlan(const rows::Program &form, const plan::PlanOptions &options, plan::Plan &plan,
              Problems &problems) {
  return form.isStraightLine() ? plan::makePlan(form.bodies[0].trip, options, plan, problems)
                               : loops::makeLoopPlan(form, options, plan, problems);
}

/// What is said of a form of the model that another one was taken instead of: of its best plan, if
/// it has one.
plan::Loser loserOf(const plan::Plan *plan, const rows::Program &form, const Problems &problems) {
  plan::Loser loser;
  loser.choice = form.isStraightLine() ? "row by row" : "positions in loops";
  loser.why = "another form of the model";
  if (plan && plan->explanation) {
    loser.choice += ": " + plan->explanation->choice;
    loser.cycles = plan->explanation->cycles;
  } else if (!problems.empty()) {
    loser.why += ", " + problems.front().message;
  }
  return loser;
}

} // namespace

bool planFastest(const std::vector<rows::Program> &forms, const plan::PlanOptions &options,
                 plan::Plan &plan, Problems &problems) {
  Problems found;
  bool planned = false;
  uint64_t work = 0;
  const rows::Program *best = nullptr;
  std::vector<plan::Loser> losers;
  for (const rows::Program &form : forms) {
    const bool first = &form == &forms.front();
    plan::PlanOptions share = options;
    share.work = (options.work - std::min(work, options.work)) /
                 static_cast<uint64_t>(&forms.back() + 1 - &form);
    if (planned && share.work == 0)
      break;
    plan::Plan other;
    Problems ignored;
    const bool possible = makePlan(form, share, other, first ? found : ignored);
    work += other.work;
    if (possible && (!planned || plan::isFaster(other, plan))) {
      if (planned)
        losers.push_back(loserOf(&plan, *best, {}));
      else if (!first)
        losers.push_back(loserOf(nullptr, forms.front(), found));
      plan = std::move(other);
      planned = true;
      best = &form;
    } else if (first) {
      plan.memory = std::move(other.memory);
    } else if (planned) {
      losers.push_back(loserOf(possible ? &other : nullptr, form, ignored));
    }
  }
  plan.work = work;
  if (plan.explanation)
    plan.explanation->losers.insert(plan.explanation->losers.begin(), losers.begin(), losers.end());
  if (!planned)
    problems.insert(problems.end(), found.begin(), found.end());
  return planned;
}

} // namespace sluice::conversion
