#include "compiler/conversion/model/fastest_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/conversion/loops/loop_plan.h"
#include "compiler/support/lack.h"
#include "compiler/support/problem.h"

namespace sluice::conversion {
namespace {

Problems makePlan(const rows::Program &form, const plan::PlanOptions &options, plan::Plan &plan) {
  return form.isStraightLine() ? plan::makePlan(form.bodies[0].trip, options, plan)
                               : loops::makeLoopPlan(form, options, plan);
}

/// What is said of a form of the model that another one was taken instead of: of its best plan, if
/// it has one.
plan::Loser loserOf(const plan::Plan *plan, const rows::Program &form, const Problems &problems) {
  plan::Loser loser;
  loser.choice = form.isStraightLine() ? "row by row" : "positions in loops";
  if (!form.variant.empty())
    loser.choice += ", " + form.variant;
  loser.why = "another form of the model";
  loser.form = true;
  if (plan && plan->explanation) {
    loser.choice += ": " + plan->explanation->choice;
    loser.cycles = plan->explanation->cycles;
  } else if (!problems.empty()) {
    loser.why += ", " + problems.front().message;
  }
  return loser;
}

/// What a plan with other trees may cost at first: a share of what the one has cost whose trees
/// they are, but a small model's search to its end.
constexpr uint64_t kLook = 4, kSmall = uint64_t{1} << 18;

class Fastest {
public:
  Fastest(std::vector<Form> &forms, const plan::PlanOptions &options, plan::Plan &plan)
      : forms(forms), options(options), plan(plan) {}

  Problems run() {
    std::vector<Form *> models;
    for (Form &form : forms)
      if (form.variant().empty() || models.empty())
        models.push_back(&form);
    for (size_t i = 0; i < models.size(); ++i) {
      if (best && (left() == 0 || isEnded()))
        break;
      tryForm(*models[i], left() / (models.size() - i));
    }
    setCost();
    if (!best) {
      plan.memory = std::move(closestUse);
      return std::move(closest);
    }
    tryVariants();
    setCost();
    if (!invalid.empty())
      return std::move(invalid);
    if (plan.explanation) {
      if (!best->variant().empty())
        plan.explanation->choice = best->variant() + ", " + plan.explanation->choice;
      plan.explanation->losers.insert(plan.explanation->losers.begin(), losers.begin(),
                                      losers.end());
    }
    return {};
  }

private:
  std::vector<Form> &forms;
  const plan::PlanOptions &options;
  plan::Plan &plan;
  Form *best = nullptr;            ///< nothing if none can be planned yet
  uint64_t work = 0, bestWork = 0; ///< of all plans, and of the best
  bool stopped = false;            ///< before all forms were tried in full
  bool interrupted = false;        ///< likewise, by a request to end
  Problems found;                  ///< of the first form
  Problems invalid;                ///< of variants that could not be made
  Problems closest;                ///< of the form that comes closest to fitting
  std::vector<plan::MemoryUse> closestUse;
  std::vector<plan::Loser> losers;

  [[nodiscard]] uint64_t left() const { return options.work - std::min(work, options.work); }

  /// Whether what is tried next is left out, for its cost or by a request to end.
  bool isEnded() {
    stopped |= work > options.stop;
    interrupted |= !stopped && options.interruption && options.interruption->isRequested;
    return stopped || interrupted;
  }

  void setCost() {
    plan.work = work;
    plan.stopped = stopped;
    plan.interrupted = interrupted;
  }

  /// The best form in other variants, and the best of those once more for as much as it has cost.
  void tryVariants() {
    const Form *const model = best;
    const uint64_t cost = bestWork;
    const size_t last = forms.size();
    for (size_t i = model - forms.data() + 1; i < last && !forms[i].variant().empty() && !isEnded();
         ++i)
      if (const uint64_t most = std::min(left(), std::max(cost / kLook, kSmall)); most != 0)
        tryForm(forms[i], most);
    if (best != model && bestWork < cost && bestWork > kSmall && !isEnded())
      tryForm(*best, std::min(left(), cost));
  }

  /// Of forms without a plan the first one is told of, but where only memory is missing the one
  /// that needs the least beyond what there is of it.
  void lookAt(const Problems &why, std::vector<plan::MemoryUse> use, bool first) {
    if (!first && (!areFor<LacksMemory>(why) || !areFor<LacksMemory>(closest) ||
                   lackOf(why) >= lackOf(closest)))
      return;
    closest = why;
    closestUse = std::move(use);
  }

  void tryForm(Form &candidate, uint64_t most) {
    const rows::Program *const made = candidate.program(invalid);
    if (!made)
      return;
    const rows::Program &form = *made;
    const bool first = &candidate == &forms.front();
    plan::PlanOptions share = options;
    share.work = most;
    share.stop -= std::min(share.stop, work);
    plan::Plan other;
    Problems why = makePlan(form, share, other);
    const bool possible = why.empty();
    work += other.work;
    stopped |= other.stopped;
    interrupted |= other.interrupted;
    if (first)
      found = why;
    if (!possible && !best)
      lookAt(why, std::move(other.memory), first);
    if (possible && (!best || plan::isFaster(other, plan))) {
      if (best)
        losers.push_back(loserOf(&plan, best->program(), {}));
      else if (!first)
        losers.push_back(loserOf(nullptr, forms.front().program(), found));
      bestWork = other.work;
      plan = std::move(other);
      best = &candidate;
    } else if (best) {
      losers.push_back(loserOf(possible ? &other : nullptr, form, why));
      if (possible && other.timing && plan.timing && other.timing->spaced < plan.timing->spaced)
        losers.back().why += fmt::format(", {:.0f} and {:.0f} cycles per inference back to back",
                                         other.timing->contiguous, other.timing->period);
    }
  }
};

} // namespace

const rows::Program *Form::program(Problems &problems) {
  if (const Maker make = std::exchange(maker, nullptr)) {
    Outcome<rows::Program> outcome = make();
    made = std::move(outcome.value);
    problems.insert(problems.end(), outcome.problems.begin(), outcome.problems.end());
  }
  return made ? &*made : nullptr;
}

Problems planFastest(std::vector<Form> &forms, const plan::PlanOptions &options, plan::Plan &plan) {
  return Fastest(forms, options, plan).run();
}

} // namespace sluice::conversion
