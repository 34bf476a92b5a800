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

} // namespace

bool planFastest(const std::vector<rows::Program> &forms, const plan::PlanOptions &options,
                 plan::Plan &plan, Problems &problems) {
  Problems found;
  bool planned = false;
  uint64_t work = 0;
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
      plan = std::move(other);
      planned = true;
    } else if (first) {
      plan.memory = std::move(other.memory);
    }
  }
  plan.work = work;
  if (!planned)
    problems.insert(problems.end(), found.begin(), found.end());
  return planned;
}

} // namespace sluice::conversion
