#include "compiler/conversion/loops/loop_plan.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/conversion/loops/fold.h"
#include "compiler/conversion/loops/image.h"
#include "compiler/conversion/loops/memory_use.h"
#include "compiler/conversion/loops/pin_bodies.h"
#include "compiler/conversion/loops/runs.h"
#include "compiler/conversion/loops/separate_outputs.h"
#include "compiler/conversion/loops/trial.h"
#include "compiler/conversion/loops/unroll.h"
#include "compiler/conversion/loops/written_rows.h"
#include "compiler/conversion/plan/beats/images.h"
#include "compiler/conversion/plan/order/split_reductions.h"
#include "compiler/conversion/plan/proof/verify.h"
#include "compiler/conversion/plan/report/fit.h"
#include "compiler/conversion/plan/search/budget.h"

namespace sluice::loops {
namespace {

struct Candidate {
  Trial trial;
  rows::Program program; ///< with its folds
  Map map;
  std::vector<List> lists;
  uint32_t positions = 1; ///< of the longest loop, before it is cut into runs
};

/// Beats of one execution of an instruction.
uint64_t beatsOf(const isa::Instruction &instruction) {
  return std::visit(
      [](const auto &one) {
        uint64_t beats = 0;
        if constexpr (requires { one.n; }) {
          beats = 1;
          for (const uint64_t trips : one.n)
            beats *= trips;
        }
        return beats;
      },
      instruction);
}

/// Beats of all units in one inference, those in hardware loops as often as they run.
uint64_t beatsOf(const std::vector<List> &lists) {
  uint64_t beats = 0;
  for (const List &list : lists) {
    std::vector<uint64_t> passes{1};
    for (const Emitted &one : list)
      if (const auto *loop = std::get_if<isa::Loop>(&one.instruction))
        passes.push_back(passes.back() * loop->count);
      else if (std::holds_alternative<isa::Endloop>(one.instruction))
        passes.pop_back();
      else
        beats += passes.back() * beatsOf(one.instruction);
  }
  return beats;
}

enum class Instructions : uint8_t { Always, IfTheyMatter };

/// A candidate, or nothing if it cannot be. Instructions that matter are those of what may fit.
std::optional<Candidate> build(const rows::Program &original, const Choice &choice,
                               Instructions instructions) {
  auto program = withFolds(inRuns(original, choice.runs, choice.lines), choice);
  if (!program)
    return std::nullopt;
  dealOut(*program, choice);
  auto map = makeMap(*program, choice);
  if (!map)
    return std::nullopt;
  Candidate candidate{
      {choice, {}, {}, {}}, std::move(*program), std::move(*map), {}, positionsOf(original)};
  std::vector<plan::MemoryUse> &use = candidate.trial.use;
  use = dataUse(candidate.program, candidate.map);
  if (instructions == Instructions::IfTheyMatter && !plan::fitsAll(use))
    return candidate;
  auto lists = emitLists(candidate.program, candidate.map, choice);
  if (!lists)
    return std::nullopt;
  candidate.lists = std::move(*lists);
  addInstructionUse(original.geometry, candidate.lists, use);
  return candidate;
}

/// Trips after which every body begins on its first core again.
uint32_t roundOf(const rows::Program &program, const Choice &choice) {
  uint32_t cores = 1;
  for (const rows::Body &body : program.bodies)
    cores = std::lcm(cores, groupsOf(program, body, choice).cores);
  return choice.group * cores;
}

/// A program that differs in its trip count alone, with this many rounds of groups over
/// the cores where it has more. Nothing if a body reads other positions than its own of what
/// another makes.
std::optional<rows::Program> shortened(const rows::Program &program, const Choice &choice,
                                       uint32_t rounds) {
  const uint32_t round = roundOf(program, choice);
  assert(round != 0);
  const auto shorten = [&](uint32_t &trips) {
    if (trips > 1 && trips / round > rounds)
      trips = rounds * round + trips % round;
  };
  if (program.hasWindows())
    return std::nullopt;
  for (const rows::Body &body : program.bodies)
    for (const rows::Read &read : body.reads) {
      uint32_t trips = program.families[read.family].trips;
      shorten(trips);
      if (read.all && trips != program.families[read.family].trips)
        return std::nullopt;
    }
  rows::Program result = program;
  for (rows::Family &family : result.families)
    shorten(family.trips);
  for (rows::Body &body : result.bodies)
    shorten(body.trips);
  for (size_t i = 0; i < program.families.size(); ++i)
    if (const auto input = program.families[i].input)
      result.inputs[*input].rows = result.families[i].total();
  for (const rows::Body &body : result.bodies)
    for (const rows::Write &write : body.writes)
      if (write.output)
        result.outputs[*write.output].rows = body.trips * static_cast<uint32_t>(write.first.size());
  return result;
}

/// So many rounds that rings come round twice.
uint32_t roundsToProve(const Map &map) {
  uint32_t rounds = 3;
  for (const FamilyHome &home : map.families)
    rounds = std::max(rounds, 2 * home.groups + 2);
  return rounds;
}

bool sameButForTrips(const std::vector<List> &left, const std::vector<List> &right) {
  const auto same = [](const Emitted &l, const Emitted &r) {
    const bool loops = std::holds_alternative<isa::Loop>(l.instruction) &&
                       std::holds_alternative<isa::Loop>(r.instruction);
    return loops || l.instruction == r.instruction;
  };
  return std::ranges::equal(
      left, right, [&](const List &l, const List &r) { return std::ranges::equal(l, r, same); });
}

/// The first thing that is wrong with a plan. Loops of many passes are proved on fewer:
/// every pass does the same at other addresses, and waits for the same.
std::optional<std::string> proveWrong(const Candidate &candidate, plan::Budget &budget) {
  const Choice &choice = candidate.trial.choice;
  if (const auto few = shortened(candidate.program, choice, roundsToProve(candidate.map))) {
    const auto lists = emitLists(*few, candidate.map, choice);
    if (lists && sameButForTrips(*lists, candidate.lists)) {
      budget.spend(beatsOf(*lists) * plan::kProvedInferences);
      const Unrolled unrolled = unroll(*few, candidate.map, choice, *lists);
      return plan::verify(unrolled.graph, unrolled.placement, unrolled.beats, unrolled.schedule);
    }
  }
  budget.spend(beatsOf(candidate.lists) * plan::kProvedInferences);
  const Unrolled unrolled = unroll(candidate.program, candidate.map, choice, candidate.lists);
  return plan::verify(unrolled.graph, unrolled.placement, unrolled.beats, unrolled.schedule);
}

/// Cycles from rest for each position, of a run of at most kTimedTrips or of so many as
/// come round a ring twice; nothing if it stalls.
constexpr uint32_t kTimedTrips = 256;

std::optional<double> cyclesOf(const Candidate &candidate, plan::Budget &budget) {
  const rows::Program &program = candidate.program;
  const uint32_t round = roundOf(program, candidate.trial.choice);
  const auto shorter = shortened(program, candidate.trial.choice,
                                 std::max(roundsToProve(candidate.map), kTimedTrips / round));
  const rows::Program &few = shorter ? *shorter : program;
  const auto lists = emitLists(few, candidate.map, candidate.trial.choice);
  const auto timed = lists ? timedPart(few, *lists) : std::nullopt;
  if (!timed)
    return std::nullopt;
  budget.spend(beatsOf(*lists));
  constexpr uint64_t kMostCycles = 10'000'000; // of a few hundred positions
  const vm::TimingRun run = vm::runTiming(*timed, vm::Arrival::Spaced, 1, 0, kMostCycles);
  if (run.stalled || run.inferences.empty())
    return std::nullopt;
  const uint32_t trips = shorter ? positionsOf(few) : candidate.positions;
  return static_cast<double>(run.inferences[0].latency()) / trips;
}

/// Where the cycles of a plan go, from a timed run of all positions one by one.
std::optional<plan::Explanation> explain(const Candidate &candidate) {
  const rows::Program &program = candidate.program;
  const auto timed = timedPart(program, candidate.lists);
  const Unrolled all = unroll(program, candidate.map, candidate.trial.choice, candidate.lists);
  const auto timeline = timed ? plan::Timeline::run(all.graph, all.beats, *timed) : std::nullopt;
  if (!timeline)
    return std::nullopt;
  plan::Explanation result =
      plan::explain(all.graph, plan::analyse(all.graph), all.placement, *timeline);
  return result;
}

/// Group sizes worth a try, smallest first.
std::vector<uint32_t> groupSizes(const rows::Program &program, uint32_t runs) {
  uint32_t most = 1;
  for (const rows::Body &body : program.bodies) {
    const uint32_t shares = groupsOf(program, body, {}).cores * runs;
    most = std::max(most, (body.trips + shares - 1) / shares);
  }
  std::set<uint32_t> sizes;
  for (const uint32_t size : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32})
    if (size <= most)
      sizes.insert(size);
  // Where all cores wait for each other after every body, those that give them equal shares.
  if (program.hasWindows())
    for (uint32_t rounds = 1; rounds <= 4; ++rounds)
      sizes.insert((most + rounds - 1) / rounds);
  return {sizes.begin(), sizes.end()};
}

/// Where runs that are alike fit, others are tried up to so many: their instructions are there once
/// for every run, but there are fewer of them, which wait for each other less often.
constexpr uint32_t kMostUnlike = 12;

/// Tries sizes of groups; keeps the fastest plan.
struct Search {
  static constexpr uint32_t kFewestAlike = 4; ///< runs of which some may be alike

  Search(const rows::Program &program, const plan::PlanOptions &options)
      : program(program), budget(options.work, options.stop, options.interruption) {}

  const rows::Program &program;
  plan::Budget budget;
  std::optional<Candidate> best;
  std::optional<std::string> wrong;
  std::vector<plan::MemoryUse> use; ///< of what comes closest to fitting
  Choice closestChoice;             ///< its choice
  std::vector<plan::Loser> losers;
  uint64_t most = 0;       ///< that one size has cost
  bool lacksInbox = false; ///< some plan of the last runs lacks inbox rows alone
  /// How many times too much the plan of the last runs needs that comes closest to fitting.
  double closest = std::numeric_limits<double>::infinity();
  static constexpr double kFarFromFitting = 1.5;
  bool fitted = false; ///< some plan of the last runs fits, and is sound or not the fastest

  /// Runs of equally many lines, a group on every core: those that are alike become a loop.
  void runAlike() {
    fitted = false;
    for (const uint32_t group : {48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1}) {
      const uint32_t lines = group * program.geometry.cores;
      const uint32_t runs = runsOf(program, lines);
      if (runs < kFewestAlike)
        continue;
      if (std::optional<Candidate> candidate =
              build(program, {program.geometry.accumulators, runs, lines}, kBuilt))
        consider(std::move(candidate));
      if (best)
        return;
    }
  }

  void run(uint32_t runs) {
    lacksInbox = fitted = false;
    // How large groups are changes little where far more rows are needed than there are.
    const bool far = runs > 1 && closest > kFarFromFitting;
    closest = std::numeric_limits<double>::infinity();
    for (const uint32_t size : groupSizes(program, runs)) {
      if (far && size != 1)
        break;
      const uint64_t before = budget.spent();
      if (best && !budget.affords(most))
        return;
      if (std::optional<Candidate> candidate = build(program, {size, runs}, kBuilt))
        consider(std::move(candidate));
      most = std::max(most, budget.spent() - before);
    }
  }

  /// What is folded over positions, in trees of other shapes.
  void otherTrees() {
    const bool folds = std::ranges::any_of(program.bodies, [](const rows::Body &body) {
      return std::ranges::any_of(body.writes, [](const rows::Write &write) {
        return write.fold && rows::operationOf(rows::monoidOf(*write.fold));
      });
    });
    if (!best || !folds || best->trial.choice.group <= best->trial.choice.trees.arity)
      return;
    const Choice found = best->trial.choice;
    for (const rows::TreeShape shape : {rows::TreeShape{}, rows::TreeShape{.arity = 2},
                                        rows::TreeShape{.arity = 2, .apart = true}})
      if (Choice choice = found; budget.affords(most)) {
        choice.trees = shape;
        if (std::optional<Candidate> candidate = build(program, choice, kBuilt))
          consider(std::move(candidate));
      }
  }

  /// What comes closest to fitting; nothing if its instructions cannot be made.
  [[nodiscard]] std::optional<Candidate> closestCandidate() const {
    return build(program, closestChoice, Instructions::Always);
  }

private:
  static constexpr Instructions kBuilt = Instructions::IfTheyMatter;

  void consider(std::optional<Candidate> candidate) {
    for (const List &list : candidate->lists)
      budget.spend(list.size());
    Trial &trial = candidate->trial;
    const bool fits = plan::fitsAll(trial.use);
    const double excess = plan::excessOf(trial.use);
    closest = std::min(closest, excess);
    if (!fits && (use.empty() || excess < plan::excessOf(use))) {
      use = trial.use;
      closestChoice = trial.choice;
    }
    lacksInbox |= !fits && !exceedsOthers(trial.use);
    if (fits)
      trial.cycles = cyclesOf(*candidate, budget);
    const bool faster = trial.cycles && (!best || *trial.cycles < *best->trial.cycles);
    if (faster)
      trial.wrong = proveWrong(*candidate, budget);
    fitted |= trial.cycles && !trial.wrong;
    if (trial.wrong)
      wrong = trial.wrong;
    if (faster && !trial.wrong)
      std::swap(best, candidate);
    if (candidate)
      losers.push_back(loserOf(program, candidate->trial));
  }
};

} // namespace

namespace {

/// Whether a program can be built with groups of one position.
bool builds(const rows::Program &program) {
  return build(program, {1}, Instructions::Always).has_value();
}

bool hasReductions(const rows::Program &program) {
  return std::ranges::any_of(program.bodies, [](const rows::Body &body) {
    return std::ranges::any_of(body.trip.rows,
                               [](const rows::Row &row) { return row.a.size() > 1; });
  });
}

rows::Program withoutReductions(rows::Program program) {
  for (rows::Body &body : program.bodies)
    body.trip = plan::splitReductions(body.trip);
  return program;
}

} // namespace

rows::Program runnable(const rows::Program &original) {
  rows::Program program = separateOutputs(original);
  // Reductions whose operands are no single stream are taken apart.
  return !hasReductions(program) || builds(program) ? std::move(program)
                                                    : withoutReductions(std::move(program));
}

bool isPlannable(const rows::Program &original) {
  rows::Program apart = separateOutputs(original);
  if (builds(apart))
    return true;
  const rows::Program program = withoutReductions(std::move(apart));
  return std::ranges::any_of(groupSizes(program, 1), [&](uint32_t size) {
    return build(program, {size}, Instructions::Always).has_value();
  });
}

Problems makeLoopPlan(const rows::Program &original, const plan::PlanOptions &options,
                      plan::Plan &result) {
  Problems biases;
  for (const rows::Body &body : original.bodies)
    for (Problem &problem : plan::biasProblems(body.trip, plan::analyse(body.trip), original.nodes))
      biases.push_back(std::move(problem));
  if (!biases.empty())
    return biases;
  rows::Program program = runnable(original);
  if (Problems refused = pinBodies(program, options.pins); !refused.empty())
    return refused;
  Search search(program, options);
  search.run(1);
  // Where all lines do not fit into the inboxes, few at a time may.
  uint32_t most = 1;
  for (const rows::Body &body : program.bodies)
    most = std::max(most, program.hasWindows() ? body.trips : 1);
  if (!search.best && search.lacksInbox && program.hasWindows()) {
    search.runAlike();
    if (search.best)
      most = std::min(most, kMostUnlike);
    search.fitted = false;
  }
  for (uint32_t runs = 2; runs <= most && !search.fitted && search.lacksInbox;
       runs += (runs + 3) / 4)
    search.run(runs);
  search.otherTrees();
  std::optional<Candidate> &best = search.best;
  if (!best) {
    if (!search.use.empty()) {
      const std::optional<Candidate> closest = search.closestCandidate();
      result.memory = closest ? closest->trial.use : search.use;
      Problems problems = closest ? fitProblems(closest->program, closest->map, result.memory)
                                  : fitProblems(program, {}, result.memory);
      for (Problem &problem : problems)
        if (!options.pins.empty())
          problem.fixes.push_back(
              {"remove --core-partition, so that all cores can compute the positions", std::nullopt,
               false, std::nullopt});
      return problems;
    }
    Problem problem;
    problem.code = "E0499";
    problem.reason = InternalError();
    problem.message =
        "internal error: " + (search.wrong ? "the plan failed its proof: " + *search.wrong
                                           : "the loop bodies cannot be planned");
    return {std::move(problem)};
  }
  result.memory = best->trial.use;
  result.program = makeImages(best->program, best->map, best->trial.choice);
  result.tensors = program.tensors;
  for (const List &list : best->lists) {
    plan::Instructions &into = result.lists.emplace_back();
    auto rules = rowRules(best->program, list);
    for (size_t i = 0; i < list.size(); ++i)
      into.push_back({list[i].instruction, list[i].nodes, std::move(rules[i])});
  }
  if (options.work != 0)
    result.timing = vm::measureTiming(*timedPart(best->program, best->lists));
  result.work = search.budget.spent();
  result.stopped = search.budget.wasStopped();
  result.interrupted = search.budget.wasInterrupted();
  if (options.explain)
    result.explanation = explain(*best);
  if (result.explanation) {
    result.explanation->choice = textOf(program, best->trial.choice);
    result.explanation->losers = std::move(search.losers);
  }
  const Choice &choice = best->trial.choice;
  result.text = fmt::format("plan {} for {}: loops over {} positions{}{}\n", program.modelName,
                            program.geometry.name, best->positions,
                            choice.lines == 0 ? fmt::format(" in groups of {}", choice.group) : "",
                            choice.runs == 1 ? "" : fmt::format(", {}", runsText(choice)));
  return {};
}

} // namespace sluice::loops
