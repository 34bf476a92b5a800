#include "compiler/conversion/plan/plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "compiler/conversion/plan/images.h"
#include "compiler/conversion/plan/split_reductions.h"
#include "compiler/conversion/plan/verify.h"
#include "sim/vm/timing.h"

namespace sluice::plan {
namespace {

using rows::Graph;
using rows::RowId;

constexpr uint32_t kAll = kNone;
constexpr uint64_t kUntimed = ~uint64_t{0};

/// What distinguishes one plan from another.
struct Choice {
  PlacementOptions placement;
  bool manySlots = false;
  Tails tails;
  uint32_t release = kNone; ///< stage after which the next inference may enter

  auto key() const { return std::tie(placement.keepTogether, manySlots, tails, release); }
  bool operator<(const Choice &other) const { return key() < other.key(); }
};

/// Why there is no schedule.
enum class Stuck : uint8_t { No, Order, Reduction };

struct Candidate {
  Placement placement;
  MachineBeats beats;
  Schedule schedule;
  std::vector<MemoryUse> use;
  bool fits = false;
  uint64_t cycles = kUntimed; ///< spaced latency
  Stuck stuck = Stuck::No;
};

bool fitsAll(const std::vector<MemoryUse> &use) {
  return std::all_of(use.begin(), use.end(),
                     [](const MemoryUse &one) { return one.used <= one.capacity; });
}

class Planner {
public:
  Planner(const Graph &graph, const Work &work, const PlanOptions &options)
      : graph(graph), work(work), budget(options.candidates) {}

  /// The best candidate: the first, improved one decision at a time.
  Candidate search() {
    Choice choice;
    choice.tails.assign(work.stages.size(), graph.geometry.cores);
    best = build(choice);
    bestChoice = choice;
    seen.insert(choice);
    if (budget == 0 || best.stuck != Stuck::No)
      return std::move(best);
    best.cycles = time(best);
    const uint32_t cores = graph.geometry.cores;
    for (const uint32_t together : {4U, 8U, 16U, 0U})
      for (const bool manySlots : {false, true})
        for (const uint32_t tail : {cores, 2 * cores, kAll, 0U}) {
          Choice other;
          other.placement.keepTogether = together;
          other.manySlots = manySlots;
          other.tails.assign(work.stages.size(), tail);
          consider(std::move(other));
        }
    while (improveTails()) {
    }
    releaseEarly();
    return std::move(best);
  }

private:
  const Graph &graph;
  const Work &work;
  unsigned budget;
  Candidate best;
  Choice bestChoice;
  std::set<Choice> seen;

  Candidate build(const Choice &choice) const {
    Candidate candidate;
    candidate.placement = place(graph, work, choice.placement);
    const std::optional<Order> order = makeOrder(graph, work, candidate.placement, choice.tails);
    if (!order) {
      candidate.stuck = Stuck::Order;
      return candidate;
    }
    const TokenLayout tokens = TokenLayout::make(graph.geometry.cores, choice.manySlots);
    candidate.beats = buildBeats(graph, work, candidate.placement, *order, tokens, choice.release);
    candidate.use = dataUse(graph, candidate.placement, candidate.beats);
    if (!fitsAll(candidate.use))
      return candidate;
    std::optional<Schedule> schedule = makeSchedule(graph, candidate.beats);
    if (!schedule) {
      candidate.stuck = Stuck::Reduction;
      return candidate;
    }
    candidate.schedule = std::move(*schedule);
    const std::vector<MemoryUse> instructions = instructionUse(graph, candidate.schedule);
    candidate.use.insert(candidate.use.end(), instructions.begin(), instructions.end());
    candidate.fits = fitsAll(candidate.use);
    return candidate;
  }

  /// What of a program its timing depends on; nothing if a value does not fit
  /// its field.
  std::optional<format::Program> timedPart(const Candidate &candidate) const {
    format::Program program = makeShell(graph);
    for (size_t list = 0; list < candidate.schedule.lists.size(); ++list)
      for (const Scheduled &one : candidate.schedule.lists[list]) {
        const std::optional<isa::Words> words = isa::encode(one.instruction);
        if (!words)
          return std::nullopt;
        (list < program.cores.size() ? program.cores[list].instructions : program.hostInstructions)
            .push_back(*words);
      }
    return program;
  }

  uint64_t time(const Candidate &candidate) const {
    const auto program = candidate.fits ? timedPart(candidate) : std::nullopt;
    if (!program)
      return kUntimed;
    const vm::TimingRun run = vm::runTiming(*program, vm::Arrival::Spaced, 1);
    return run.stalled || run.inferences.empty() ? kUntimed : run.inferences[0].latency();
  }

  std::optional<vm::Timing> timeAll(const Candidate &candidate) const {
    const auto program = candidate.fits ? timedPart(candidate) : std::nullopt;
    return program ? vm::measureTiming(*program) : std::nullopt;
  }

  /// Lets the next inference in while this one is on its way, as early as that
  /// is proved sound and costs no latency.
  void releaseEarly() {
    const std::optional<vm::Timing> before = timeAll(best);
    if (!before)
      return;
    const uint32_t last = static_cast<uint32_t>(work.stages.size()) - 1;
    for (uint32_t stage = 1; stage < last; stage += 1 + stage / 4) {
      Choice choice = bestChoice;
      choice.release = stage;
      Candidate candidate = build(choice);
      if (!candidate.fits ||
          verify(graph, candidate.placement, candidate.beats, candidate.schedule))
        continue;
      const std::optional<vm::Timing> now = timeAll(candidate);
      if (!now || now->spaced > before->spaced || now->contiguous > before->contiguous ||
          now->period >= before->period)
        continue;
      candidate.cycles = best.cycles;
      best = std::move(candidate);
      return;
    }
  }

  /// Times a choice and keeps it if it is better.
  bool consider(Choice choice) {
    if (budget == 0 || !seen.insert(choice).second)
      return false;
    --budget;
    Candidate candidate = build(choice);
    if (!candidate.fits)
      return false;
    candidate.cycles = time(candidate);
    if (best.fits && candidate.cycles >= best.cycles)
      return false;
    best = std::move(candidate);
    bestChoice = std::move(choice);
    return true;
  }

  /// Tries other tails, one stage after the other.
  bool improveTails() {
    bool improved = false;
    const std::vector<uint32_t> counts = operandCounts(graph, work, best.placement);
    const uint32_t cores = graph.geometry.cores;
    for (size_t stage = 1; stage < counts.size() && budget != 0; ++stage) {
      if (counts[stage] < 2)
        continue;
      std::set<uint32_t> tails{0, counts[stage]};
      for (uint32_t tail = counts[stage] % cores; tail < counts[stage]; tail += cores)
        tails.insert(tail);
      for (uint32_t tail : tails) {
        Choice other = bestChoice;
        other.tails[stage] = tail;
        improved |= consider(std::move(other));
      }
    }
    return improved;
  }
};

Problem internalError(const std::string &what) {
  Problem problem;
  problem.code = "E0499";
  problem.message = "internal error: the plan failed its proof: " + what;
  return problem;
}

/// Instructions as words; false if a value does not fit its field.
bool encodeLists(const Schedule &schedule, Plan &result) {
  for (const InstructionList &list : schedule.lists) {
    std::vector<PlannedInstruction> planned;
    for (const Scheduled &one : list) {
      const std::optional<isa::Words> words = isa::encode(one.instruction);
      if (!words)
        return false;
      planned.push_back({*words, one.nodes});
    }
    result.lists.push_back(std::move(planned));
  }
  return true;
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
                          : kind == rows::RowKind::Linear ? "linear"
                                                          : "vector");
      if (place.core != kNone)
        text += fmt::format(" on core {}", place.core);
      if (kind == rows::RowKind::Linear)
        text += fmt::format(", {} blocks", work[row].terms.size());
      if (!place.net)
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

} // namespace

bool makePlan(const Graph &graph, const PlanOptions &options, Plan &result, Problems &problems) {
  const Work work = analyse(graph);
  Problems found = finiteProblems(graph, work);
  Candidate best = Planner(graph, work, options).search();
  const bool split = std::any_of(graph.rows.begin(), graph.rows.end(),
                                 [](const rows::Row &row) { return row.a.size() > 1; });
  if (best.stuck == Stuck::Reduction && split)
    return makePlan(splitReductions(graph), options, result, problems);
  if (best.stuck != Stuck::No) {
    found.push_back(internalError("the rows of the graph cannot be ordered"));
  } else if (!best.fits) {
    const Problems fit = fitProblems(graph, work, best.placement, best.use);
    found.insert(found.end(), fit.begin(), fit.end());
  } else if (const auto wrong = verify(graph, best.placement, best.beats, best.schedule)) {
    found.push_back(internalError(*wrong));
  }
  result.memory = best.use;
  if (!found.empty()) {
    problems.insert(problems.end(), found.begin(), found.end());
    return false;
  }
  result.program = makeImages(graph, work, best.placement, best.beats);
  if (!encodeLists(best.schedule, result)) {
    problems.push_back(internalError("an address does not fit its field"));
    return false;
  }
  result.spaced = best.cycles == kUntimed ? 0 : best.cycles;
  result.text = describe(graph, work, best);
  return true;
}

} // namespace sluice::plan
