#include "compiler/pipeline/choices.h"

#include <utility>

#include "compiler/pipeline/one_way.h"

namespace sluice::pipeline {
namespace {

bool isFaster(const Compilation &one, const Compilation &other) {
  const std::optional<Cycles> &cycles = one.result.cycles, &others = other.result.cycles;
  if (!one.compiles() || !other.compiles() || !cycles || !others)
    return one.compiles() && !other.compiles();
  return std::pair(cycles->spaced, cycles->period) < std::pair(others->spaced, others->period);
}

} // namespace

plan::Loser loserOf(const Compilation &other, std::string name) {
  plan::Loser loser;
  loser.choice = std::move(name);
  loser.why = "another form of the model";
  loser.form = true;
  if (other.result.cycles)
    loser.cycles = other.result.cycles->spaced;
  else if (other.result.plannedCycles)
    loser.cycles = other.result.plannedCycles;
  else if (!other.problems.empty())
    loser.why += ", " + other.problems.front().message;
  return loser;
}

Compilation compileChoices(const CompileOptions &options, ImportOnce &imported, Repairs *repairs) {
  if (options.limits || options.effort == Effort::Fast || options.stage < Stage::Plan)
    return compileOneWay(options, imported, repairs);
  CompileOptions how = options;
  how.measure |= options.stage == Stage::Program;
  how.measuresChoices = true;
  Compilation split = compileOneWay(how, imported, repairs);
  if (!split.result.hasSplitChoices || split.result.interrupted)
    return split;
  how.splitChoices = false;
  Compilation whole = compileOneWay(how, imported, repairs);
  const bool isWhole = isFaster(whole, split);
  Compilation &best = isWhole ? whole : split;
  if (best.result.explanation) {
    std::vector<plan::Loser> &losers = best.result.explanation->losers;
    losers.insert(losers.begin(),
                  loserOf(isWhole ? split : whole, isWhole ? "selects by constants as slices"
                                                           : "selects by constants as they are"));
  }
  return std::move(best);
}

} // namespace sluice::pipeline
