#include "compiler/conversion/plan/plan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "compiler/conversion/plan/beats/images.h"
#include "compiler/conversion/plan/beats/row_rules.h"
#include "compiler/conversion/plan/order/planned.h"
#include "compiler/conversion/plan/order/split_reductions.h"
#include "compiler/conversion/plan/order/work_ahead.h"
#include "compiler/conversion/plan/proof/verify.h"
#include "compiler/conversion/plan/search/search.h"

namespace sluice::plan {
namespace {

Problem internalError(const std::string &what) {
  Problem problem;
  problem.code = "E0499";
  problem.reason = InternalError();
  problem.message = "internal error: the plan failed its proof: " + what;
  return problem;
}

/// Rows of the inputs are announced by tokens, which count no further than that before a
/// unit takes them.
constexpr size_t kMostInputRows = size_t{TokenLayout::kHosts} * TokenLayout::kRun;

Problem tooManyInputRows(const Graph &graph, size_t rows) {
  Problem problem;
  problem.code = "E0409";
  problem.message =
      fmt::format("the inputs need {} rows at once; the hardware can announce at most {}", rows,
                  kMostInputRows);
  for (const rows::Port &port : graph.inputs)
    problem.notes.push_back(fmt::format("input '{}' needs {} row{}", port.tensor.name,
                                        port.rows.size(), port.rows.size() == 1 ? "" : "s"));
  problem.fixes.push_back({"make the first axis of the inputs one that the model processes index "
                           "by index; it then runs as a loop",
                           std::nullopt, false, std::nullopt});
  return problem;
}

Problem inACircle(const Graph &graph, uint32_t state) {
  Problem problem;
  problem.code = "E0417";
  problem.message =
      fmt::format("state '{}' is updated only from states, so it keeps its initial values",
                  graph.states[state].name);
  problem.fixes.push_back(
      {"bind the input to its value (--bind), or update the state from an input", std::nullopt,
       false, std::nullopt});
  return problem;
}

std::string describe(const Graph &graph, const Work &work, const Candidate &candidate) {
  std::string text = fmt::format("plan {} for {}\n", graph.modelName, graph.geometry.name);
  for (size_t stage = 0; stage < work.stages.size(); ++stage) {
    text += fmt::format("stage {}:\n", stage);
    for (RowId row : work.stages[stage]) {
      const RowPlace &place = candidate.placement.rows[row];
      const auto kind = graph.rows[row].kind;
      text += fmt::format("  row {} {}", row,
                          kind == rows::RowKind::Input    ? "input"
                          : graph.rows[row].ahead         ? "precomputed sum"
                          : kind == rows::RowKind::Linear ? "linear"
                                                          : "vector");
      if (place.core != kNone)
        text += fmt::format(" on core {}", place.core);
      if (kind == rows::RowKind::Linear)
        text += fmt::format(", {} blocks{}", work[row].terms.size(),
                            graph.rows[row].wide ? " of the next row's sum, as fp32" : "");
      if (place.weights)
        text += fmt::format(", {} {} of weight block {}",
                            graph.dynamic.at(place.weights->first).columns ? "column" : "row",
                            place.weights->second, place.weights->first);
      else if (!place.net)
        text += fmt::format(", local row {}", addressAt(candidate.placement, place.core, row));
      else if (place.readers() != 0)
        text += fmt::format(", inbox row {} of cores {:#x}", place.inbox, place.readers());
      if (work[row].output)
        text += fmt::format(", output row {}", work[row].outRow);
      text += '\n';
    }
  }
  return text;
}

/// The rows that an instruction of a vector unit writes.
std::vector<WrittenRow> writtenBy(const Graph &graph, const UnitBeats &unit, const Scheduled &one) {
  std::vector<WrittenRow> written;
  for (const uint32_t beat : writingBeats(one.instruction)) {
    const RowId row = unit.origins[one.firstBeat + beat].row;
    written.push_back(row == kNoRow ? WrittenRow() : WrittenRow{graph.rows[row].elements});
  }
  return written;
}

/// Returns the problems; none: there is a plan.
Problems planOne(const Graph &whole, bool longestWayFirst, const PlanOptions &options,
                 Plan &result) {
  const Planned ordered(whole, longestWayFirst);
  const Graph &graph = ordered.graph();
  const Work &work = ordered.work();
  Problems found = biasProblems(graph, work, graph.nodes);
  const NodeCores pins = coresOfNodes(graph, work, options.pins, found);
  if (!found.empty() && !options.pins.empty())
    return found;
  Budget budget(options.work, options.stop, options.interruption);
  Candidate best =
      search(graph, work, budget,
             {ordered.mayFit(), options.explain, options.progress, pins.empty() ? nullptr : &pins});
  const bool split = std::any_of(graph.rows.begin(), graph.rows.end(),
                                 [](const rows::Row &row) { return row.a.size() > 1; });
  if (best.stuck == Stuck::Reduction && split)
    return planOne(splitReductions(whole), longestWayFirst, options, result);
  const Graph &planned = best.variant ? best.variant->split.graph : graph;
  const Work &plannedWork = best.variant ? best.variant->work : work;
  result.work = budget.spent() + kProvedInferences * plannedWork.beats;
  result.stopped = budget.wasStopped();
  result.interrupted = budget.wasInterrupted();
  if (best.stuck != Stuck::No) {
    found.push_back(internalError("no order of the rows exists"));
  } else if (!best.fits) {
    Problems fit = fitProblems(planned, plannedWork, best.placement, best.use);
    for (Problem &problem : fit)
      if (!pins.empty())
        problem.fixes.push_back({"remove --core-partition, so that all cores can compute the rows",
                                 std::nullopt, false, std::nullopt});
    found.insert(found.end(), fit.begin(), fit.end());
  } else if (const auto changed = whole.states.empty() ? std::nullopt : verifyAhead(whole, graph)) {
    found.push_back(internalError(*changed));
  } else if (const auto other = verifySplit(graph, planned)) {
    found.push_back(internalError(*other));
  } else if (const auto wrong =
                 verify(planned, best.placement, best.beats, best.schedule, &result.stateRests)) {
    const size_t rows = work.stages[0].size();
    found.push_back(rows > kMostInputRows ? tooManyInputRows(graph, rows) : internalError(*wrong));
  }
  result.memory = best.use;
  if (!found.empty())
    return found;
  result.program = makeImages(planned, plannedWork, best.placement, best.beats);
  result.tensors = planned.tensors;
  for (size_t core = 0; core < best.schedule.lists.size(); ++core) {
    Instructions &into = result.lists.emplace_back();
    for (const Scheduled &one : best.schedule.lists[core])
      into.push_back({one.instruction, one.nodes,
                      one.unit == isa::Unit::Vec
                          ? rulesOf(writtenBy(planned, best.beats.vector[core], one))
                          : std::vector<format::RowRule>()});
  }
  result.timing = best.timing;
  result.text = describe(planned, plannedWork, best);
  result.explanation = std::move(best.explanation);
  return {};
}

} // namespace

bool isFaster(const Plan &plan, const Plan &than) {
  return plan.timing && than.timing && plan.timing->spaced < than.timing->spaced &&
         plan.timing->contiguous <= than.timing->contiguous;
}

Problems makePlan(const Graph &graph, const PlanOptions &options, Plan &result) {
  if (const auto circular = circularState(graph))
    return {inACircle(graph, *circular)};
  if (Problems found = planOne(graph, false, options, result); !found.empty())
    return found;
  // The other order is worth what the first has left.
  PlanOptions left = options;
  left.work -= std::min(left.work, result.work);
  left.stop -= std::min(left.stop, result.work);
  if (graph.states.empty() || left.work == 0)
    return {};
  Plan other;
  const bool better = planOne(graph, true, left, other).empty() && isFaster(other, result);
  const uint64_t work = result.work + other.work;
  const bool stopped = result.stopped || other.stopped;
  const bool interrupted = result.interrupted || other.interrupted;
  if (better)
    result = std::move(other);
  result.work = work;
  result.stopped = stopped;
  result.interrupted = interrupted;
  return {};
}

} // namespace sluice::plan
