// sluice explain --plan: what a plan takes and why, and with --verbose its stages, its floor, the
// cause of every idle cycle and the plans that lost.
#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/support/problem_text.h"
#include "tools/cli/clock.h"
#include "tools/cli/commands.h"
#include "tools/cli/model_options.h"
#include "tools/cli/plan_json.h"
#include "tools/cli/plan_summary.h"

namespace sluice::cli {
namespace {

using pipeline::CompileResult;
using plan::Cause;
using plan::CoreCycles;
using plan::Explanation;
using plan::kCauses;

/// Plans that lost in the text; JSON has all.
constexpr size_t kShownLosers = 8;

Cause causeAt(size_t index) { return static_cast<Cause>(index); }

uint64_t total(const CoreCycles &cycles) {
  return std::accumulate(cycles.begin(), cycles.end(), uint64_t{0});
}

class PlanText {
public:
  explicit PlanText(const CompileResult &result)
      : explanation(*result.explanation), program(result.program) {}

  std::string text() const {
    const format::Geometry &machine = program.geometry;
    return fmt::format("plan of {} for {}: {} cycles ({}), floor {}\n{}\n\n",
                       printable(program.models[0].name), machine.name, explanation.cycles,
                       Clock(machine).time(explanation.cycles), explanation.floor.cycles,
                       explanation.choice) +
           stages() + '\n' + derivation() + '\n' + reads() + floor() + '\n' + account() + '\n' +
           idle() + '\n' + path() + '\n' + losers();
  }

private:
  const Explanation &explanation;
  const format::Program &program;

  std::string stages() const {
    std::string text = "stage  rows  start    end  rows by core, products by core\n";
    for (uint32_t stage = 0; stage < explanation.stages.size(); ++stage) {
      const plan::ExplainedStage &one = explanation.stages[stage];
      const auto cycle = [](const std::optional<uint64_t> &at) {
        return at ? std::to_string(*at) : std::string("-");
      };
      text += fmt::format("{:>5} {:>5} {:>6} {:>6}  ", stage, one.rows, cycle(one.start),
                          cycle(one.end));
      if (stage != 0) {
        text += fmt::format("{}", fmt::join(one.rowsByCore, " "));
        if (*std::max_element(one.productsByCore.begin(), one.productsByCore.end()) != 0)
          text += fmt::format(", {}", fmt::join(one.productsByCore, " "));
        text += ": ";
      }
      text += stageName(explanation, program, stage) + '\n';
    }
    return text;
  }

  /// By which splits and trees of merges the rows come from the operations.
  std::string derivation() const {
    std::string text = "derivation\n";
    for (uint32_t stage = 1; stage < explanation.stages.size(); ++stage)
      text +=
          fmt::format("{:>5}  {}\n", stage, fmt::join(explanation.stages[stage].derivation, "; "));
    return text;
  }

  /// What a split over several cores shares.
  std::string reads() const {
    std::string text;
    for (uint32_t stage = 1; stage < explanation.stages.size(); ++stage) {
      const plan::ExplainedStage &one = explanation.stages[stage];
      if (std::ranges::count_if(one.rowsByCore, [](uint32_t rows) { return rows != 0; }) > 1)
        text += fmt::format("{:>5}  {}\n", stage, readsText(one.readsByCores));
    }
    return text.empty() ? text : "rows that a split stage reads, by how many cores\n" + text + '\n';
  }

  std::string floor() const {
    const plan::Floor &floor = explanation.floor;
    return fmt::format("floor {} cycles: {} block products on {} cores {}, input and output "
                       "latency {}; longest chain {}\n",
                       floor.cycles, floor.products, explanation.cores, floor.work, floor.way,
                       floor.chain);
  }

  std::string line(std::string_view what, uint64_t coreCycles) const {
    return fmt::format("{:<16}{:>12}{:>9.2f}\n", what, coreCycles,
                       static_cast<double>(coreCycles) / explanation.cores);
  }

  std::string account() const {
    std::string text = fmt::format("spaced latency {} cycles\n{:<16}{:>12}{:>9}\n",
                                   explanation.cycles, "matrix units", "core cycles", "cycles");
    text += line("block products", explanation.floor.products);
    if (explanation.ahead != 0)
      text += line("precomputed sums", explanation.ahead);
    for (size_t cause = 0; cause < kCauses; ++cause)
      text += line(plan::nameOf(causeAt(cause)), explanation.idle[cause]);
    return text +
           line("total", explanation.floor.products + explanation.ahead + total(explanation.idle));
  }

  static std::string idleLine(const std::string &what, const CoreCycles &idle) {
    std::string text = fmt::format("{:<24}", what);
    for (uint64_t cycles : idle)
      text += fmt::format("{:>10}", cycles);
    return text + '\n';
  }

  std::string idle() const {
    std::string text = fmt::format("{:<24}", "idle core cycles");
    for (size_t cause = 0; cause < kCauses; ++cause)
      text += fmt::format("{:>10}", plan::nameOf(causeAt(cause)));
    text += '\n';
    for (uint32_t stage = 0; stage < explanation.stages.size(); ++stage)
      if (total(explanation.stages[stage].idle) != 0)
        text += idleLine(fmt::format("before stage {}", stage), explanation.stages[stage].idle);
    return text + idleLine("after the last product", explanation.drain);
  }

  std::string path() const {
    std::string text = "critical path\n  from cycles\n";
    for (const plan::PathStep &step : explanation.path)
      text += fmt::format("{:>6} {:>6}  {}, {}, stage {}\n", step.from, step.cycles,
                          plan::nameOf(step.delay), unitName(explanation, step.unit), step.stage);
    return text;
  }

  std::string losers() const {
    std::vector<const plan::Loser *> sorted; // those tried first stay first among equals
    for (const plan::Loser &one : explanation.losers)
      sorted.push_back(&one);
    std::sort(sorted.begin(), sorted.end(), [](const plan::Loser *left, const plan::Loser *right) {
      return std::tuple(!left->form, left->cycles.value_or(~uint64_t{0}), left) <
             std::tuple(!right->form, right->cycles.value_or(~uint64_t{0}), right);
    });
    std::string text = fmt::format("{} plans not chosen\n", plan::plansNotChosen(explanation));
    const auto forms =
        static_cast<size_t>(std::ranges::count_if(explanation.losers, &plan::Loser::form));
    const size_t shown = std::min(sorted.size(), forms + kShownLosers);
    for (size_t i = 0; i < shown; ++i) {
      const plan::Loser &one = *sorted[i];
      text += one.cycles ? fmt::format("{:>6} cycles", *one.cycles) : "             ";
      text += fmt::format("  {}{}{}{}\n", one.choice,
                          one.plans == 1 ? "" : fmt::format(", {} plans", one.plans),
                          one.why.empty() ? "" : ": ", one.why);
    }
    uint64_t more = 0;
    for (size_t i = shown; i < sorted.size(); ++i)
      more += sorted[i]->plans;
    if (more != 0)
      text += fmt::format("{} more (--json lists them)\n", more);
    return text;
  }
};

} // namespace

int explainPlan(ModelOptions options, const Common &common) {
  const Report report(common);
  if (const auto wrong = report.checkFiles({{"the model", options.compile.modelPath}}, {}))
    return report.fail({*wrong}, "");
  Problems problems;
  options.finish(problems);
  if (!problems.empty())
    return report.fail(problems, "");
  options.compile.explain = true;
  options.compile.measure = false;
  const CompileResult result = options.run("explaining", problems).result;
  if (!problems.empty())
    return report.fail(problems, options.compile.modelPath);
  if (!result.explanation)
    return report.fail({internalError("the plan could not be timed")}, options.compile.modelPath);
  Report::notes(result.notes);
  const auto summary = planSummary(*result.explanation, result.program);
  report.text(fmt::format("{}\n", fmt::join(summary, "\n")));
  report.text(common.verbose
                  ? '\n' + PlanText(result).text()
                  : "--verbose prints stages, cycles, the critical path and other plans\n");
  return report.json(planJson(result, summary)) ? Ok : Usage;
}

} // namespace sluice::cli
