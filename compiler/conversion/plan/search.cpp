#include "compiler/conversion/plan/search.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/conversion/plan/images.h"
#include "compiler/conversion/plan/verify.h"
#include "sim/vm/timing.h"

namespace sluice::plan {
namespace {

using rows::Graph;

constexpr uint32_t kAll = kNone;

/// What distinguishes one plan from another.
struct Choice {
  PlacementOptions placement;
  bool manySlots = false;
  Tails tails;
  uint32_t release = kNone; ///< stage after which the next inference may enter

  auto key() const { return std::tie(placement.keepTogether, manySlots, tails, release); }
  bool operator<(const Choice &other) const { return key() < other.key(); }

  std::string text() const {
    std::vector<std::string> late;
    for (size_t stage = 1; stage < tails.size(); ++stage)
      late.push_back(tails[stage] == kAll ? "all" : std::to_string(tails[stage]));
    if (std::adjacent_find(late.begin(), late.end(), std::not_equal_to<>()) == late.end())
      late.resize(1);
    std::string text = fmt::format(
        "stages up to {} products on one core, {} per producer, late operands {}",
        placement.keepTogether, manySlots ? "several tokens" : "one token", fmt::join(late, " "));
    if (release != kNone)
      text += fmt::format(", next inference after stage {}", release);
    return text;
  }
};

bool fitsAll(const std::vector<MemoryUse> &use) {
  return std::all_of(use.begin(), use.end(),
                     [](const MemoryUse &one) { return one.used <= one.capacity; });
}

class Search {
public:
  Search(const Graph &graph, const Work &work, const SearchOptions &options)
      : graph(graph), work(work), budget(options.candidates), explaining(options.explain) {}

  Candidate run() {
    Choice choice;
    choice.tails.assign(work.stages.size(), graph.geometry.cores);
    best = build(choice);
    bestChoice = choice;
    seen.insert(choice);
    if (best.stuck == Stuck::No && budget != 0)
      improve();
    if (explaining && best.fits) {
      best.explanation = explanationOf(best);
      if (best.explanation)
        describeChoice(*best.explanation);
    }
    return std::move(best);
  }

private:
  const Graph &graph;
  const Work &work;
  unsigned budget;
  const bool explaining;
  Candidate best;
  Choice bestChoice;
  std::set<Choice> seen;

  /// A candidate that was not kept, if they are to be explained.
  struct Rejected {
    std::string choice;
    std::optional<Explanation> run;
    std::string why; ///< without a run
  };
  std::vector<Rejected> rejected;

  void improve() {
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
  }

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

  std::optional<Explanation> explanationOf(const Candidate &candidate) const {
    const auto program = candidate.fits ? timedPart(candidate) : std::nullopt;
    const auto timeline = program ? Timeline::run(graph, candidate.beats, *program) : std::nullopt;
    if (!timeline)
      return std::nullopt;
    return explain(graph, work, candidate.placement, *timeline);
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
      if (!candidate.fits)
        continue;
      if (const auto wrong =
              verify(graph, candidate.placement, candidate.beats, candidate.schedule)) {
        if (explaining)
          rejected.push_back({choice.text(), std::nullopt, "not proved sound: " + *wrong});
        continue;
      }
      const std::optional<vm::Timing> now = timeAll(candidate);
      if (!now || now->spaced > before->spaced || now->contiguous > before->contiguous ||
          now->period >= before->period)
        continue;
      candidate.cycles = best.cycles;
      best = std::move(candidate);
      bestChoice = std::move(choice);
      return;
    }
  }

  /// Times a choice and keeps it if it is better.
  bool consider(Choice choice) {
    if (budget == 0 || !seen.insert(choice).second)
      return false;
    --budget;
    Candidate candidate = build(choice);
    candidate.cycles = time(candidate);
    const bool better = candidate.fits && (!best.fits || candidate.cycles < best.cycles);
    if (explaining)
      reject(better ? best : candidate, better ? bestChoice : choice);
    if (!better)
      return false;
    best = std::move(candidate);
    bestChoice = std::move(choice);
    return true;
  }

  void reject(const Candidate &candidate, const Choice &choice) {
    Rejected one{choice.text(), explanationOf(candidate), {}};
    if (candidate.stuck != Stuck::No) {
      one.why = "its rows cannot be ordered";
    } else if (!candidate.fits) {
      for (const MemoryUse &use : candidate.use)
        if (use.used > use.capacity && one.why.empty())
          one.why = fmt::format("needs {} {}, there are {}", use.used, use.memory, use.capacity);
    } else if (!one.run) {
      one.why = "stalls";
    }
    rejected.push_back(std::move(one));
  }

  void describeChoice(Explanation &explanation) const {
    explanation.choice = bestChoice.text();
    for (const Rejected &one : rejected) {
      Loser loser{one.choice, std::nullopt, one.why};
      if (one.run) {
        loser.cycles = one.run->cycles;
        loser.why = difference(explanation, *one.run);
      }
      explanation.losers.push_back(std::move(loser));
    }
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

} // namespace

Candidate search(const Graph &graph, const Work &work, const SearchOptions &options) {
  return Search(graph, work, options).run();
}

} // namespace sluice::plan
