#include "compiler/conversion/model/fastest_plan.h"

#include "compiler/conversion/loops/loop_plan.h"

namespace sluice::conversion {
namespace {

/// No cycle more by any measure, and fewer from rest.
bool faster(const plan::Plan &plan, const plan::Plan &than) {
  return plan.timing && than.timing && plan.timing->spaced < than.timing->spaced &&
         plan.timing->contiguous <= than.timing->contiguous &&
         plan.timing->period <= than.timing->period;
}

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
  for (const rows::Program &form : forms) {
    if (planned && options.candidates == 0)
      break;
    const bool first = &form == &forms.front();
    plan::Plan other;
    Problems ignored;
    if (makePlan(form, options, other, first ? found : ignored) &&
        (!planned || faster(other, plan))) {
      plan = std::move(other);
      planned = true;
    } else if (first) {
      plan.memory = std::move(other.memory);
    }
  }
  if (!planned)
    problems.insert(problems.end(), found.begin(), found.end());
  return planned;
}

} // namespace sluice::conversion
