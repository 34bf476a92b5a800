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

/// Tells of the form that was not taken.
void addLoser(CompileResult &result, const Compilation &other, const char *name) {
  if (!result.explanation)
    return;
  plan::Loser loser;
  loser.choice = name;
  loser.why = "another form of the model";
  loser.form = true;
  if (other.result.cycles)
    loser.cycles = other.result.cycles->spaced;
  else if (!other.problems.empty())
    loser.why += ", " + other.problems.front().message;
  result.explanation->losers.insert(result.explanation->losers.begin(), std::move(loser));
}

} // namespace

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
  addLoser(best.result, isWhole ? split : whole,
           isWhole ? "selects by constants as slices" : "selects by constants as they are");
  return std::move(best);
}

} // namespace sluice::pipeline
