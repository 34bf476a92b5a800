#include "compiler/conversion/plan/search.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/conversion/plan/images.h"
#include "compiler/conversion/plan/verify.h"

namespace sluice::plan {
namespace {

constexpr uint32_t kAll = kNone;
/// Plans with split rows that are looked at as a whole.
constexpr size_t kFinalists = 16;

/// What distinguishes one plan from another.
struct Choice {
  PlacementOptions placement; ///< `cores` is what `split` gives
  SplitOptions split;
  bool manySlots = false;
  bool takeArrived = false;
  Tails tails;
  uint32_t release = kNone; ///< stage after which the next inference may enter

  auto key() const {
    return std::tie(placement.keepTogether, placement.copies, placement.byOperand, placement.follow,
                    placement.byArrival, placement.inputsEverywhere, placement.reuse, split,
                    manySlots, takeArrived, tails, release);
  }
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
    if (placement.inputsEverywhere)
      text += ", inputs to all cores";
    if (placement.reuse != 0)
      text += fmt::format(", rows' places free {} stages behind their readers", placement.reuse);
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
    if (placement.byArrival)
      text += ", rows in the order of their operands";
    if (takeArrived)
      text += ", waits for all that is there";
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
      : graph(graph), work(work), total(options.candidates), budget(total),
        explaining(options.explain) {}

  Candidate run() {
    start();
    if (best.stuck == Stuck::No && budget != 0) {
      improve();
      best.timing = timeAll(best);
    }
    if (explaining && best.fits) {
      best.explanation = explanationOf(best);
      if (best.explanation)
        describeChoice(*best.explanation);
    }
    return std::move(best);
  }

private:
  /// The first plan: the plainest that fits and is sound; if there is none, the
  /// plainest.
  void start() {
    Choice choice;
    choice.tails.assign(work.stages.size(), graph.geometry.cores);
    seen.insert(choice);
    bestChoice = choice;
    best = build(choice);
    if (best.stuck != Stuck::No || sound(best))
      return;
    for (const bool everywhere : {false, true})
      for (const uint32_t reuse : {0U, 3U, 2U, 1U})
        for (const bool manySlots : {false, true}) {
          choice.placement.inputsEverywhere = everywhere;
          choice.placement.reuse = reuse;
          choice.manySlots = manySlots;
          Candidate other = build(choice);
          if (other.stuck != Stuck::No || !sound(other))
            continue;
          best = std::move(other);
          bestChoice = std::move(choice);
          return;
        }
  }

  bool sound(const Candidate &candidate) const {
    return candidate.fits &&
           !verify(graphOf(candidate), candidate.placement, candidate.beats, candidate.schedule);
  }

  const Graph &graph;
  const Work &work;
  const unsigned total;
  unsigned budget; ///< candidates that may still be timed
  const bool explaining;
  Candidate best;
  Choice bestChoice;
  std::set<Choice> seen;
  std::vector<std::pair<uint64_t, Choice>> history; ///< choices kept, with their cycles
  SplitOptions lastSplit;
  std::shared_ptr<const Variant> lastVariant; ///< of lastSplit

  /// A candidate that was not kept, if they are to be explained.
  struct Rejected {
    std::string choice;
    std::optional<Explanation> run;
    std::string why; ///< without a run
  };
  std::vector<Rejected> rejected;

  void improve() {
    const Candidate plain = best;
    const Choice first = bestChoice;
    best.cycles = time(best);
    const uint32_t cores = graph.geometry.cores;
    if (!graph.dynamic.empty())
      for (const bool follow : {true, false})
        for (const bool byOperand : {true, false})
          for (uint32_t copies = 1; copies <= cores; ++copies) {
            Choice other = bestChoice;
            other.placement.copies = copies;
            other.placement.byOperand = byOperand;
            other.placement.follow = follow;
            other.takeArrived = true;
            consider(std::move(other));
          }
    explore(bestChoice);
    reorderRows();
    Choice other = bestChoice;
    other.takeArrived = !other.takeArrived;
    consider(std::move(other));
    history.clear();
    const Choice whole = bestChoice;
    const uint64_t cycles = best.cycles;
    if (best.fits && graph.dynamic.empty()) // parts would need copies of written weights
      splitRows();
    std::erase_if(history, [&](const auto &one) { return one.first >= cycles; });
    std::sort(history.begin(), history.end());
    choose(whole);
    if (plain.fits && !sound(best)) { // such as more rows on the way than a token counts
      best = plain;
      bestChoice = first;
      best.cycles = time(best);
    }
  }

  /// Tries what does not depend on the split of rows.
  void explore(const Choice &from) {
    const uint32_t cores = graph.geometry.cores;
    for (const uint32_t together : {4U, 8U, 16U, 0U})
      for (const bool manySlots : {false, true})
        for (const uint32_t tail : {cores, 2 * cores, kAll, 0U}) {
          Choice other;
          other.placement = from.placement;
          other.takeArrived = from.takeArrived;
          other.placement.keepTogether = together;
          other.manySlots = manySlots;
          other.tails.assign(work.stages.size(), tail);
          consider(std::move(other));
        }
    while (best.fits && improveTails()) {
    }
  }

  /// Tries rows in the order of their operands, from there to its own best.
  void reorderRows() {
    Choice from = bestChoice;
    from.placement.byArrival = true;
    if (sameTurns(place(graph, work, from.placement), best.placement))
      return;
    Candidate kept = std::exchange(best, {});
    const Choice keptChoice = bestChoice;
    budget = total;
    explore(from);
    if (best.fits && best.cycles < kept.cycles)
      return;
    best = std::move(kept);
    bestChoice = keptChoice;
  }

  /// Whether every row is on the same core and has the same turn there.
  static bool sameTurns(const Placement &left, const Placement &right) {
    return std::ranges::equal(left.rows, right.rows, [](const RowPlace &l, const RowPlace &r) {
      return l.core == r.core && l.indexInStage == r.indexInStage;
    });
  }

  /// The best choice found by splitting rows that also takes no more cycles per
  /// inference in a row of them than the best without; else that one. Either
  /// with early entry of the next inference.
  void choose(const Choice &whole) {
    if (!history.empty()) {
      best = build(bestChoice = whole);
      best.cycles = time(best);
    }
    const std::optional<vm::Timing> reference = releaseEarly();
    if (!reference)
      return;
    Candidate kept = std::move(best);
    Choice keptChoice = std::move(bestChoice);
    for (size_t i = 0; i < std::min(history.size(), kFinalists); ++i) {
      bestChoice = history[i].second;
      best = build(bestChoice);
      best.cycles = time(best);
      const std::optional<vm::Timing> now = releaseEarly();
      if (now && now->contiguous <= reference->contiguous && now->period <= reference->period)
        return;
      if (explaining && now)
        rejected.push_back({bestChoice.text(), explanationOf(best),
                            fmt::format("takes {:.0f} and {:.0f} cycles per inference in a row",
                                        now->contiguous, now->period)});
    }
    best = std::move(kept);
    bestChoice = std::move(keptChoice);
  }

  const Graph &graphOf(const Candidate &candidate) const {
    return candidate.variant ? candidate.variant->split.graph : graph;
  }
  const Work &workOf(const Candidate &candidate) const {
    return candidate.variant ? candidate.variant->work : work;
  }

  std::shared_ptr<const Variant> variantOf(const Choice &choice) {
    if (choice.split.stages.empty())
      return nullptr;
    if (best.variant && !(bestChoice.split < choice.split) && !(choice.split < bestChoice.split))
      return best.variant;
    if (lastVariant && !(lastSplit < choice.split) && !(choice.split < lastSplit))
      return lastVariant;
    lastVariant.reset();
    const Placement whole = place(graph, work, choice.placement);
    auto variant = std::make_shared<Variant>();
    variant->split = splitContractions(graph, work, whole, choice.split);
    variant->work = analyse(variant->split.graph);
    lastSplit = choice.split;
    lastVariant = variant;
    return variant;
  }

  /// Tries to share rows out over the cores: all stages, then one more or less.
  /// From every start to its own best, since the order has to follow.
  void splitRows() {
    const std::set<uint32_t> stages = splittableStages(graph, work);
    if (stages.empty())
      return;
    const Choice whole = bestChoice;
    for (const std::set<uint32_t> &start : {stages, std::set<uint32_t>{*stages.rbegin()}})
      for (const uint32_t skew : {0U, 1U}) {
        Candidate kept = std::exchange(best, {});
        const Choice keptChoice = std::exchange(bestChoice, whole);
        budget = total;
        considerSplit({start, skew});
        while (best.fits && improveTails()) {
        }
        for (auto stage = stages.rbegin(); stage != stages.rend() && budget != 0; ++stage) {
          SplitOptions other = bestChoice.split;
          if (other.stages.erase(*stage) == 0)
            other.stages.insert(*stage);
          if (!other.stages.empty() && considerSplit(other))
            improveTails();
        }
        if (best.fits && best.cycles < kept.cycles)
          continue;
        best = std::move(kept);
        bestChoice = keptChoice;
      }
    lastVariant.reset();
  }

  bool considerSplit(const SplitOptions &split) {
    Choice choice = bestChoice;
    choice.split = split;
    bool improved = consider(choice);
    const uint32_t cores = graph.geometry.cores;
    for (const uint32_t tail : {cores, 2 * cores, kAll, 0U}) {
      choice.tails.assign(work.stages.size(), tail);
      improved |= consider(choice);
    }
    choice = bestChoice;
    choice.split = split;
    choice.placement.byArrival = true;
    improved |= consider(choice);
    return improved;
  }

  Candidate build(const Choice &choice) {
    Candidate candidate;
    candidate.variant = variantOf(choice);
    const Graph &graph = graphOf(candidate);
    const Work &work = workOf(candidate);
    PlacementOptions options = choice.placement;
    options.cores = candidate.variant ? &candidate.variant->split.cores : nullptr;
    candidate.placement = place(graph, work, options);
    const std::optional<Order> order = makeOrder(graph, work, candidate.placement, choice.tails);
    if (!order) {
      candidate.stuck = Stuck::Order;
      return candidate;
    }
    TokenLayout tokens = TokenLayout::make(graph.geometry.cores, choice.manySlots);
    tokens.takeArrived = choice.takeArrived;
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
    format::Program program = makeShell(graphOf(candidate));
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
    const auto timeline =
        program ? Timeline::run(graphOf(candidate), candidate.beats, *program) : std::nullopt;
    if (!timeline)
      return std::nullopt;
    return explain(graphOf(candidate), workOf(candidate), candidate.placement, *timeline);
  }

  /// Lets the next inference in while this one is on its way, as early as that
  /// is proved sound and costs no latency. The timing of the best plan, if it runs.
  std::optional<vm::Timing> releaseEarly() {
    const std::optional<vm::Timing> before = timeAll(best);
    if (!before)
      return before;
    const uint32_t last = static_cast<uint32_t>(work.stages.size()) - 1;
    for (uint32_t stage = 1; stage < last; stage += 1 + stage / 4) {
      Choice choice = bestChoice;
      choice.release = stage;
      Candidate candidate = build(choice);
      if (!candidate.fits)
        continue;
      if (const auto wrong = verify(graphOf(candidate), candidate.placement, candidate.beats,
                                    candidate.schedule)) {
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
      return now;
    }
    return before;
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
    history.emplace_back(best.cycles, bestChoice);
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

  /// Every choice once; what was said last about it is what it lost for.
  void describeChoice(Explanation &explanation) const {
    explanation.choice = bestChoice.text();
    Choice chosen = bestChoice;
    chosen.release = kNone;
    std::set<std::string> listed{chosen.text(), explanation.choice};
    for (const Rejected &one : rejected | std::views::reverse) {
      if (!listed.insert(one.choice).second)
        continue;
      Loser loser{one.choice, std::nullopt, one.why};
      if (one.run) {
        loser.cycles = one.run->cycles;
        if (loser.why.empty() && *loser.cycles < explanation.cycles)
          loser.why = fmt::format("not among the {} that were run in a row", kFinalists);
        const std::string change = difference(explanation, *one.run);
        loser.why += (loser.why.empty() || change.empty() ? "" : ", ") + change;
      }
      explanation.losers.push_back(std::move(loser));
    }
    std::reverse(explanation.losers.begin(), explanation.losers.end());
  }

  /// Tries other tails, one stage after the other.
  bool improveTails() {
    bool improved = false;
    const std::vector<uint32_t> counts = operandCounts(graphOf(best), workOf(best), best.placement);
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
