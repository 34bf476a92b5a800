#include "compiler/conversion/plan/search/search.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/conversion/plan/order/operands.h"
#include "compiler/conversion/plan/proof/verify.h"
#include "compiler/conversion/plan/search/losers.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

/// Parts of the search that share the budget: the first order, the other, four splits, and
/// the early entry of the next inference.
constexpr unsigned kRounds = 7, kSplits = 4;
/// Rows of a stage for each core from which on it is long, and from which on its rows are not
/// split.
constexpr size_t kLongStage = 16, kSplitStage = 32;
/// A chain of cores is tried for rows of at least so many products, and with so many products more
/// for each core of the chain than for the one before.
constexpr size_t kLongRow = 32;
constexpr std::array<uint32_t, 6> kStairs{0, 6, 12, 18, 24, 30};
/// What a candidate costs that is built and timed, in beats of an inference, and what one costs
/// that is built, proved and measured.
constexpr uint64_t kTried = 2, kMeasured = 1 + kProvedInferences + vm::kMeasuredInferences;

/// A plan is far from fitting if it needs more of a memory than there is, times this factor.
/// Improvements saved a factor of 2.7 at most (docs/decisions/search-ends-early.md).
constexpr double kFar = 3;

/// What is tried besides a choice of slots: runs are for rows that the others cannot count.
std::vector<Slots> slotsTried(Slots slots) {
  return slots == Slots::InRuns ? std::vector{slots} : std::vector{Slots::One, Slots::Many};
}

/// Values of PlacementOptions::reuse; the last needs the fewest addresses.
constexpr std::array<uint32_t, 4> kReuses{0, 3, 2, 1};

class Search {
public:
  Search(const Graph &graph, const Work &work, Budget &budget, const SearchOptions &options)
      : graph(graph), work(work), budget(budget), make(graph, work, budget),
        explaining(options.explain), progress(options.progress), pins(options.pins),
        possible(options.mayFit), mostWithoutFit(options.mostWithoutFit) {
    if (progress)
      progress->stage("planning", budget.left());
  }

  Candidate run() {
    const bool improving = budget.left() != 0;
    start();
    const bool mayImprove = possible && (fitted || closest <= kFar);
    if (best.stuck == Stuck::No && improving && mayImprove) {
      improve();
      if (!best.timing)
        best.timing = make.timeAll(best);
    }
    if (!best.fits && plainest)
      best = std::move(*plainest);
    if (explaining && best.fits) {
      best.explanation = make.explain(best);
      if (best.explanation)
        losers.describe(bestChoice, *best.explanation);
    }
    return std::move(best);
  }

private:
  /// The first plan: the plainest that fits and is sound; if there is none, the
  /// plainest.
  void start() {
    Choice choice;
    choice.placement.pins = pins;
    choice.tails.assign(work.stages.size(), graph.geometry.cores);
    seen.insert(choice);
    bestChoice = choice;
    best = make.build(choice);
    closest = excessOf(best.use);
    hasRoom = best.fits;
    fitted = make.sound(best);
    if (best.stuck != Stuck::No || fitted || !possible)
      return;
    if (lacks("function tables")) {
      Choice apart = choice;
      apart.placement.tablesApart = true;
      if (startFrom(apart))
        return;
    }
    if (startFrom(choice))
      return;
    if (hasRoom) { // but more rows are on the way than a token counts
      choice.slots = Slots::InRuns;
      if (startFrom(choice))
        return;
      choice.slots = Slots::One;
    }
    // A row of more products than a core has blocks for is shared out.
    if (const auto stage = longestStage(); lacks("weight blocks") && stage) {
      plainest = best;
      choice.split.stages = {*stage};
      choice.split.pairs = true;
      if (!startFrom(choice))
        best = make.build(bestChoice = choice);
    }
  }

  /// Whether the best plan so far needs more of a memory than some core has.
  [[nodiscard]] bool lacks(const std::string &memory) const {
    return std::ranges::any_of(best.use, [&](const MemoryUse &one) {
      return one.memory == memory && one.used > one.capacity;
    });
  }

  /// Stages whose rows can be shared out over all cores.
  [[nodiscard]] std::set<uint32_t> freeStages() const {
    std::set<uint32_t> stages = splittableStages(graph, work);
    std::erase_if(stages,
                  [&](uint32_t stage) { return isPinned(graph, work.stages[stage], pins); });
    return stages;
  }

  /// The stage with the longest sum among those whose rows can be shared out.
  std::optional<uint32_t> longestStage() const {
    std::optional<uint32_t> longest;
    size_t most = 0;
    for (const uint32_t stage : freeStages())
      for (const RowId row : work.stages[stage])
        if (work[row].terms.size() > most) {
          most = work[row].terms.size();
          longest = stage;
        }
    return longest;
  }

  /// Tries ways to reuse addresses and to count tokens; returns whether a plan was found. These
  /// ways change the number of instructions little, so the first plan with far too many ends the
  /// trials.
  bool startAt(Choice choice) {
    const std::vector<Slots> allSlots = slotsTried(choice.slots);
    uint64_t left = allSlots.size() * kReuses.size();
    for (const uint32_t reuse : kReuses)
      for (const Slots slots : allSlots) {
        if (isHopeless())
          return false;
        choice.placement.reuse = reuse;
        choice.slots = slots;
        Candidate other = make.build(choice);
        const double excess = excessOf(other.use);
        closest = std::min(closest, excess);
        hasRoom |= other.fits;
        --left;
        if (other.stuck == Stuck::No && make.sound(other)) {
          best = std::move(other);
          bestChoice = std::move(choice);
          fitted = true;
          return true;
        }
        if (!other.schedule.lists.empty() && excess > kFar && choice.split.empty()) {
          budget.spend(left * work.beats); // so the rest of the search stays the same
          return false;
        }
      }
    return false;
  }

  /// Tries what needs less memory of a core; whether there is a plan.
  bool startFrom(Choice choice) {
    for (const bool spread : {false, true})
      for (const bool everywhere : {false, true}) {
        choice.placement.spread = spread;
        if (spread)
          choice.placement.keepTogether = 0;
        choice.placement.inputsEverywhere = everywhere;
        choice.placement.reuse = kReuses.back();
        if (!make.mayHaveRoom(choice)) {
          // Spend what building them would cost, so the rest of the search stays the same.
          budget.spend(2 * kReuses.size() * work.beats);
          continue;
        }
        if (startAt(choice))
          return true;
      }
    return false;
  }

  const Graph &graph;
  const Work &work;
  Budget &budget;
  CandidateMaker make;
  const bool explaining;
  Progress *const progress;
  const NodeCores *const pins;
  const bool possible;           ///< SearchOptions::mayFit
  const uint64_t mostWithoutFit; ///< SearchOptions::mostWithoutFit
  Candidate best;
  Choice bestChoice;
  std::optional<Candidate> plainest; ///< to be told of, if nothing fits
  std::set<Choice> seen;
  bool fitted = false;  ///< some plan fits
  bool hasRoom = false; ///< some plan that start() built fits, sound or not
  double closest = 0;   ///< the least excessOf() of the plans that start() built
  bool windows = false; ///< long stages whose rows are looked at by several
  std::vector<std::pair<uint64_t, Choice>> history; ///< choices kept, with their cycles
  Losers losers;

  /// Whether so much was spent without a plan that fits that no other plan is tried.
  [[nodiscard]] bool isHopeless() const { return !fitted && budget.spent() >= mostWithoutFit; }

  /// Whether one more candidate may be tried; one with split rows is a graph of its own.
  [[nodiscard]] bool affords(uint64_t candidates = 1) const {
    return !isHopeless() && budget.affords(candidates * (kTried + 1) * work.beats);
  }

  void improve() {
    budget.share(kRounds);
    const Candidate plain = best;
    const Choice first = bestChoice;
    best.cycles = make.time(best);
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
            consider(other);
            // The rows of a position together, and what follows from them.
            for (const uint32_t runs : {1U, 2U}) {
              other.placement.runs = runs;
              if (follow && copies == 1)
                consider(other);
            }
          }
    keepNeighbours();
    explore(bestChoice);
    if (!graph.states.empty() || work.sumsAhead) {
      Choice cells = bestChoice;
      cells.placement.byCell = true;
      exploreFrom(cells);
      if (std::ranges::any_of(work.rows, &WorkRow::late)) {
        cells.placement.lateApart = true;
        exploreFrom(cells);
      }
    }
    budget.share(kRounds - 1);
    reorderRows();
    Choice other = bestChoice;
    other.takeArrived = !other.takeArrived;
    consider(std::move(other));
    history.clear();
    const Choice whole = bestChoice;
    const uint64_t cycles = best.cycles;
    if (best.fits) {
      placeByOwn();
      splitRows();
      chainCores();
    }
    budget.share(1);
    std::erase_if(history, [&](const auto &one) { return one.first >= cycles; });
    std::sort(history.begin(), history.end());
    choose(whole);
    enterBeforeSums();
    if (plain.fits && !make.sound(best)) { // such as more rows on the way than a token counts
      best = plain;
      bestChoice = first;
      best.cycles = make.time(best);
    }
  }

  /// Whether a stage has many rows for every core.
  [[nodiscard]] bool isLong(const std::vector<RowId> &stage, size_t rows = kLongStage) const {
    return stage.size() >= rows * graph.geometry.cores;
  }

  /// Whether a stage is searched less for orders and splits. What the first or last row of a long
  /// one takes matters little where windows look at its rows, and there are many ways to order and
  /// to split it.
  [[nodiscard]] bool isCoarse(const std::vector<RowId> &stage, size_t rows = kLongStage) const {
    return windows && isLong(stage, rows);
  }

  /// Whether rows of a stage share operands with others that have more beside them: the rows of a
  /// position of a dense layer share all.
  [[nodiscard]] bool overlaps(const std::vector<RowId> &stage) const {
    std::set<RowId> operands;
    std::set<std::set<RowId>> different;
    size_t reads = 0, most = 0;
    for (RowId row : stage) {
      std::set<RowId> own;
      forEachOperand(graph, work, row, [&](RowId operand, bool) { own.insert(operand); });
      operands.insert(own.begin(), own.end());
      most = std::max(most, own.size());
      if (const size_t size = own.size(); different.insert(std::move(own)).second)
        reads += size;
    }
    return reads > operands.size() && most < operands.size();
  }

  /// Values of PlacementOptions::keepTogether that differ in the stages they are for.
  [[nodiscard]] std::vector<uint32_t> sizesTogether() const {
    std::vector<uint32_t> sizes;
    std::set<std::vector<bool>> seen;
    for (const uint32_t size : {4U, 8U, 16U, 0U}) {
      std::vector<bool> together;
      for (size_t stage = 1; stage < work.stages.size(); ++stage)
        together.push_back(costOf(graph, work, work.stages[stage]) <= size);
      if (seen.insert(std::move(together)).second)
        sizes.push_back(size);
    }
    return sizes;
  }

  /// Tries runs of neighbouring rows on a core, where stages are long: rows that windows look at.
  void keepNeighbours() {
    const uint32_t cores = graph.geometry.cores;
    windows = std::ranges::any_of(work.stages, [&](const std::vector<RowId> &stage) {
      return isLong(stage) && overlaps(stage);
    });
    if (!windows || !graph.dynamic.empty() || !graph.states.empty())
      return;
    for (const uint32_t runs : {1U, 2U, 4U, 8U}) {
      Choice other = bestChoice;
      other.placement.runs = runs;
      for (const uint32_t tail : {kAll, cores}) {
        other.tails.assign(work.stages.size(), tail);
        consider(other);
      }
    }
  }

  /// Whether the vector unit computes at least as many rows of some stage as there are cores, and
  /// all of them read one operand in common and others beside it.
  [[nodiscard]] bool hasSharedOperands() const {
    return std::ranges::any_of(work.stages, [&](const std::vector<RowId> &stage) {
      const VectorReads reads = vectorReads(graph, work, stage);
      const auto isOfAll = [&](const auto &one) { return one.second == reads.rows; };
      return reads.rows >= graph.geometry.cores && reads.operands.size() > reads.rows &&
             std::ranges::any_of(reads.operands, isOfAll);
    });
  }

  /// Tries to place rows of the vector unit by the operands that only they read, and what goes best
  /// with it: chains of cores, whose long sums are then computed where the rows are.
  void placeByOwn() {
    if (!hasSharedOperands())
      return;
    Choice own = bestChoice;
    own.placement.byOwn = true;
    bool improved = false;
    for (const uint32_t runs : {0U, 1U})
      for (const bool follow : {false, true}) {
        own.placement.runs = runs;
        own.placement.follow = follow;
        improved |= consider(own);
      }
    if (improved)
      explore(bestChoice);
    improved = false;
    const uint32_t cores = graph.geometry.cores;
    for (const uint32_t stage : stagesOfLongRows())
      for (const uint32_t runs : {0U, 1U})
        for (const uint32_t count : std::set<uint32_t>{2, cores / 2, cores})
          for (const uint32_t stairs : {0U, 12U}) {
            own.split.chains[stage] = {count, stairs};
            own.placement.runs = runs;
            improved |= count > 1 && consider(own);
          }
    while (improved && improveTails()) {
    }
  }

  /// Tries what does not depend on the split of rows.
  void explore(const Choice &from) {
    const uint32_t cores = graph.geometry.cores;
    for (const uint32_t together : sizesTogether())
      for (const Slots slots : slotsTried(from.slots))
        for (const uint32_t tail : {cores, 2 * cores, kAll, 0U}) {
          Choice other;
          other.placement = from.placement;
          other.takeArrived = from.takeArrived;
          other.split = from.split;
          other.placement.keepTogether = together;
          other.slots = slots;
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
    if (!sameTurns(place(graph, work, from.placement), best.placement))
      exploreFrom(from);
  }

  /// From a choice to its own best; the one before is kept if that is no better.
  void exploreFrom(const Choice &from) {
    Candidate kept = std::exchange(best, {});
    const Choice keptChoice = bestChoice;
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
      best = make.build(bestChoice = whole);
      best.cycles = make.time(best);
    }
    const std::optional<vm::Timing> reference = releaseEarly();
    if (!reference)
      return;
    Candidate kept = std::move(best);
    Choice keptChoice = std::move(bestChoice);
    for (size_t i = 0; i < std::min(history.size(), kFinalists); ++i) {
      if (!budget.affords((kTried + vm::kMeasuredInferences) * work.beats))
        break;
      bestChoice = history[i].second;
      best = make.build(bestChoice);
      best.cycles = make.time(best);
      const std::optional<vm::Timing> now = releaseEarly();
      if (now && now->contiguous <= reference->contiguous && now->period <= reference->period)
        return;
      if (explaining && now)
        losers.add(bestChoice, make.explain(best),
                   fmt::format("{:.0f} and {:.0f} cycles per inference back to back",
                               now->contiguous, now->period));
    }
    best = std::move(kept);
    bestChoice = std::move(keptChoice);
  }

  /// Tries to share rows out over the cores: all stages, then one more or less.
  /// From every start to its own best, since the order has to follow.
  void splitRows() {
    std::set<uint32_t> stages = freeStages();
    std::erase_if(stages,
                  [&](uint32_t stage) { return isCoarse(work.stages[stage], kSplitStage); });
    if (stages.empty())
      return;
    const Choice whole = bestChoice;
    unsigned left = 1 + kSplits;
    for (const std::set<uint32_t> &start : {stages, std::set<uint32_t>{*stages.rbegin()}})
      for (const uint32_t skew : {0U, 1U}) {
        Candidate kept = std::exchange(best, {});
        const Choice keptChoice = std::exchange(bestChoice, whole);
        budget.share(left--);
        considerSplit({start, skew});
        while (best.fits && improveTails()) {
        }
        for (auto stage = stages.rbegin(); stage != stages.rend() && affords(); ++stage) {
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
  }

  /// Stages of a few long rows, the last first.
  [[nodiscard]] std::vector<uint32_t> stagesOfLongRows() const {
    std::vector<uint32_t> result;
    for (const uint32_t stage : splittableStages(graph, work)) {
      const auto isLongRow = [&](RowId row) { return work[row].terms.size() >= kLongRow; };
      if (2 * work.stages[stage].size() <= graph.geometry.cores &&
          std::ranges::any_of(work.stages[stage], isLongRow))
        result.push_back(stage);
    }
    std::ranges::reverse(result);
    return result;
  }

  /// Tries chains of cores: for all stages of long rows, then for one after the other.
  void chainCores() {
    const std::vector<uint32_t> all = stagesOfLongRows();
    if (all.empty())
      return;
    budget.share(2); // the other half is for what follows
    std::vector<std::vector<uint32_t>> sets{all};
    if (all.size() > 1)
      for (const uint32_t stage : all)
        sets.push_back({stage});
    bool improved = false;
    for (const std::vector<uint32_t> &stages : sets)
      for (uint32_t count = 2; count <= graph.geometry.cores; ++count)
        for (const uint32_t stairs : kStairs) {
          Choice other = bestChoice;
          for (const uint32_t stage : stages)
            if (count * work.stages[stage].size() <= graph.geometry.cores) {
              other.split.stages.erase(stage);
              other.split.chains[stage] = {count, stairs};
            }
          improved |= consider(std::move(other));
        }
    while (improved && improveTails()) {
    }
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

  /// Lets the next inference in while this one is on its way, as early as that
  /// is proved sound and costs no latency. The timing of the best plan, if it runs.
  std::optional<vm::Timing> releaseEarly() {
    best.timing = make.timeAll(best);
    if (best.timing)
      tryReleases();
    return best.timing;
  }

  /// Tries stages behind which the next inference may enter. The earliest one is not always the
  /// best: the signal to the host is one more beat, which may be in the way of others.
  void tryReleases() {
    const uint32_t last = static_cast<uint32_t>(work.stages.size()) - 1;
    for (uint32_t stage = 1; stage < last; stage += 1 + stage / 4) {
      Choice choice = bestChoice;
      choice.entry.release = stage;
      enterBy(std::move(choice));
    }
  }

  /// Lets the next inference in before the sums ahead are done, if that is sound and no loss.
  void enterBeforeSums() {
    if (!work.sumsAhead || !best.timing)
      return;
    Choice choice = bestChoice;
    choice.entry.beforeSums = true;
    if (enterBy(std::move(choice)) && bestChoice.entry.release == kNone)
      tryReleases();
  }

  /// Keeps a choice that differs from the best in when the next inference enters, if it is sound
  /// and better for inferences in a row.
  bool enterBy(Choice choice) {
    if (!budget.affords(kMeasured * work.beats))
      return false;
    Candidate candidate = make.build(choice);
    if (!candidate.fits)
      return false;
    if (const auto wrong = make.verify(candidate)) {
      if (explaining)
        losers.add(choice, std::nullopt, "failed its proof: " + *wrong);
      return false;
    }
    const vm::Timing &before = *best.timing;
    const std::optional<vm::Timing> now = make.timeAll(candidate);
    if (!now || now->spaced > before.spaced || now->contiguous > before.contiguous ||
        now->period >= before.period)
      return false;
    candidate.cycles = best.cycles;
    candidate.timing = now;
    best = std::move(candidate);
    bestChoice = std::move(choice);
    return true;
  }

  /// Times a choice and keeps it if it is better.
  bool consider(Choice choice) {
    if (!affords() || !seen.insert(choice).second)
      return false;
    if (progress)
      progress->plan(budget.spent(),
                     best.cycles == kUntimed ? std::nullopt : std::optional(best.cycles));
    Candidate candidate = make.build(choice);
    candidate.cycles = make.time(candidate);
    const bool better = candidate.fits && (!best.fits || candidate.cycles < best.cycles);
    if (explaining)
      losers.add(better ? bestChoice : choice, better ? best : candidate,
                 make.explain(better ? best : candidate));
    if (!better)
      return false;
    best = std::move(candidate);
    bestChoice = std::move(choice);
    fitted = true;
    history.emplace_back(best.cycles, bestChoice);
    return true;
  }

  /// Tries other tails, one stage after the other.
  bool improveTails() {
    bool improved = false;
    const std::vector<uint32_t> counts =
        operandCounts(make.graphOf(best), make.workOf(best), best.placement);
    const uint32_t cores = graph.geometry.cores;
    for (size_t stage = 1; stage < counts.size() && affords(); ++stage) {
      if (counts[stage] < 2)
        continue;
      std::set<uint32_t> tails{0, counts[stage]};
      for (uint32_t tail = counts[stage] % cores; tail < counts[stage]; tail += cores)
        if (!isCoarse(work.stages[stage]) || tail <= 2 * cores)
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

Candidate search(const Graph &graph, const Work &work, Budget &budget,
                 const SearchOptions &options) {
  return Search(graph, work, budget, options).run();
}

} // namespace sluice::plan
