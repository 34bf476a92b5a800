#include "compiler/conversion/plan/search/candidate.h"

#include <utility>

#include "compiler/conversion/plan/beats/images.h"
#include "compiler/conversion/plan/proof/verify.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

std::shared_ptr<const Variant> CandidateMaker::variantOf(const Choice &choice) {
  if (choice.split.empty())
    return nullptr;
  Choice part;
  part.placement = choice.placement;
  part.split = choice.split;
  std::weak_ptr<const Variant> &known = variants[part];
  if (std::shared_ptr<const Variant> variant = known.lock())
    return lastVariant = std::move(variant);
  budget.spend(work.beats);
  const Placement whole = place(graph, work, choice.placement);
  auto variant = std::make_shared<Variant>();
  variant->split = splitContractions(graph, work, whole, choice.split, choice.placement.pins);
  variant->work = analyse(variant->split.graph);
  known = variant;
  return lastVariant = std::move(variant);
}

const OrderedRows &CandidateMaker::order(const Choice &choice, const Candidate &candidate) {
  Choice key;
  key.placement = choice.placement;
  key.split = choice.split;
  key.tails = choice.tails;
  if (lastOrdered && !(lastOrdered->choice < key) && !(key < lastOrdered->choice) &&
      lastOrdered->choice.placement.pins == key.placement.pins)
    return *lastOrdered;
  const Graph &graph = graphOf(candidate);
  const Work &work = workOf(candidate);
  PlacementOptions options = choice.placement;
  options.cores = candidate.variant ? &candidate.variant->split.cores : nullptr;
  lastOrdered.emplace();
  lastOrdered->choice = std::move(key);
  lastOrdered->placement = place(graph, work, options);
  lastOrdered->use = dataUse(graph, work, lastOrdered->placement);
  lastOrdered->hasRoom = fitsAll(lastOrdered->use);
  if (lastOrdered->hasRoom)
    lastOrdered->order = makeOrder(graph, work, lastOrdered->placement, choice.tails);
  return *lastOrdered;
}

Candidate CandidateMaker::build(const Choice &choice) {
  Candidate candidate;
  candidate.variant = variantOf(choice);
  const Graph &graph = graphOf(candidate);
  const Work &work = workOf(candidate);
  budget.spend(work.beats);
  const OrderedRows &ordered = order(choice, candidate);
  candidate.placement = ordered.placement;
  candidate.use = ordered.use;
  if (!ordered.hasRoom)
    return candidate;
  if (!ordered.order) {
    candidate.stuck = Stuck::Order;
    return candidate;
  }
  TokenLayout tokens = TokenLayout::make(graph.geometry.cores, choice.slots, work.sumsAhead);
  tokens.takeArrived = choice.takeArrived;
  candidate.beats =
      buildBeats(graph, work, candidate.placement, *ordered.order, tokens, choice.entry);
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

bool CandidateMaker::mayHaveRoom(const Choice &choice) const {
  return !choice.split.empty() ||
         fitsAll(dataUse(graph, work, place(graph, work, choice.placement)));
}

/// What of a program its timing depends on; nothing if a value does not fit
/// its field.
std::optional<format::Program> CandidateMaker::timedPart(const Candidate &candidate) const {
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

uint64_t CandidateMaker::time(const Candidate &candidate) const {
  const auto program = candidate.fits ? timedPart(candidate) : std::nullopt;
  if (!program)
    return kUntimed;
  budget.spend(workOf(candidate).beats);
  const vm::TimingRun run = vm::runTiming(*program, vm::Arrival::Spaced, 1);
  return run.stalled || run.inferences.empty() ? kUntimed : run.inferences[0].latency();
}

std::optional<vm::Timing> CandidateMaker::timeAll(const Candidate &candidate) const {
  const auto program = candidate.fits ? timedPart(candidate) : std::nullopt;
  if (!program)
    return std::nullopt;
  budget.spend(workOf(candidate).beats * vm::kMeasuredInferences);
  return vm::measureTiming(*program);
}

std::optional<Explanation> CandidateMaker::explain(const Candidate &candidate) const {
  const auto program = candidate.fits ? timedPart(candidate) : std::nullopt;
  const auto timeline =
      program ? Timeline::run(graphOf(candidate), candidate.beats, *program) : std::nullopt;
  if (!timeline)
    return std::nullopt;
  return plan::explain(graphOf(candidate), workOf(candidate), candidate.placement, *timeline);
}

std::optional<std::string> CandidateMaker::verify(const Candidate &candidate) const {
  budget.spend(workOf(candidate).beats * kProvedInferences);
  return plan::verify(graphOf(candidate), candidate.placement, candidate.beats, candidate.schedule);
}

} // namespace sluice::plan
