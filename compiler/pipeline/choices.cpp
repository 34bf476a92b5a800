#include "compiler/pipeline/choices.h"

#include <utility>

#include <fmt/format.h>

#include "compiler/pipeline/one_way.h"

namespace sluice::pipeline {
namespace {

/// A program to be compared with another one.
struct Candidate {
  CompileOptions options;
  CompileResult result;
  Problems problems;
  bool compiles = false;

  void compile(ImportOnce &imported, Repairs *repairs) {
    compiles = compileOneWay(options, imported, result, problems, repairs);
  }
  [[nodiscard]] bool isFasterThan(const Candidate &other) const {
    if (!compiles || !other.compiles || !result.cycles || !other.result.cycles)
      return compiles && !other.compiles;
    return std::pair(result.cycles->spaced, result.cycles->period) <
           std::pair(other.result.cycles->spaced, other.result.cycles->period);
  }
};

/// Tells of the form that was not taken.
void addLoser(CompileResult &result, const Candidate &other, const char *name) {
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

bool compileChoices(const CompileOptions &options, ImportOnce &imported, CompileResult &result,
                    Problems &problems, Repairs *repairs) {
  if (options.limits || options.effort == Effort::Fast || options.stage < Stage::Plan)
    return compileOneWay(options, imported, result, problems, repairs);
  Candidate split{options, {}, {}};
  split.options.measure |= options.stage == Stage::Program;
  split.compile(imported, repairs);
  const auto finish = [&](Candidate &best) {
    result = std::move(best.result);
    problems.insert(problems.end(), best.problems.begin(), best.problems.end());
    return best.compiles;
  };
  if (!split.result.hasSplitChoices || split.result.interrupted)
    return finish(split);
  Candidate whole{split.options, {}, {}};
  whole.options.splitChoices = false;
  for (Candidate *one : {&split, &whole}) {
    if (options.stage == Stage::Program && one == &split)
      continue; // compiled already
    one->options.stage = Stage::Program;
    one->options.measure = true;
    one->result = {};
    one->problems.clear();
    one->compile(imported, repairs);
  }
  const bool isWhole = whole.isFasterThan(split);
  Candidate &best = isWhole ? whole : split;
  if (options.stage != Stage::Program && best.compiles) {
    best.options.stage = options.stage;
    best.result = {};
    best.compile(imported, repairs);
  }
  addLoser(best.result, isWhole ? split : whole,
           isWhole ? "selects by constants as slices" : "selects by constants as they are");
  return finish(best);
}

} // namespace sluice::pipeline
