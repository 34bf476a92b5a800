#include "compiler/pipeline/one_way.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "compiler/conversion/plan/report/fit.h"
#include "compiler/conversion/rows/transport.h"
#include "compiler/pipeline/back.h"
#include "compiler/pipeline/choices.h"
#include "compiler/pipeline/front.h"
#include "compiler/support/suggestion.h"
#include "runtime/format/targets.h"

namespace sluice::pipeline {

bool doesNotFit(const Problems &problems) {
  return !problems.empty() && std::ranges::all_of(problems, &Problem::isFor<LacksMemory>);
}

bool compileOneWay(const CompileOptions &options, ImportOnce &imported, CompileResult &result,
                   Problems &problems, Repairs *repairs) {
  const auto target = options.geometry
                          ? std::variant<format::Geometry, format::FileProblem>(*options.geometry)
                          : format::loadTarget(options.target);
  if (const auto *wrong = std::get_if<format::FileProblem>(&target)) {
    Problem problem;
    problem.code = wrong->code;
    problem.message = wrong->message;
    problem.fixes = suggestion(options.target, wrong->names);
    problems.push_back(std::move(problem));
    return false;
  }
  const auto &geometry = std::get<format::Geometry>(target);
  result.program.geometry = geometry;
  result.peakMacsPerCycle = uint64_t{geometry.cores} * geometry.lanes * geometry.lanes;
  pinsOf(options, geometry, problems);
  if (!problems.empty())
    return false;
  std::vector<rows::Program> forms =
      runFront(options, imported, geometry, result, problems, repairs);
  if (!problems.empty() || result.stopped)
    return false;
  if (forms.empty())
    return true; // an earlier stage was asked for, or nothing is left to compile
  if (options.ioOnly) {
    result.notes.emplace_back(
        "the program transports inputs and outputs (--io-only): its outputs are zero");
    forms = {rows::transportOf(forms.front())};
    result.parameters = 0;
  } else {
    result.accelerated = result.operators;
  }
  result.macs = forms.back().macs;
  return runBack(std::move(forms), options, result, problems);
}

namespace {

/// The options with every input's rows along an axis, counted from its last one, where that is not
/// said and not what was chosen; nothing if that changes none.
std::optional<CompileOptions>
along(CompileOptions options, const std::vector<format::HostTensor> &chosen, size_t fromLast) {
  bool changed = false;
  for (const format::HostTensor &input : chosen) {
    if (input.shape.size() <= fromLast ||
        std::ranges::any_of(options.dataDims,
                            [&](const auto &pin) { return pin.first == input.name; }))
      continue;
    const size_t axis = input.shape.size() - 1 - fromLast;
    options.dataDims.emplace_back(input.name, static_cast<int64_t>(axis));
    changed |= input.dataDim != axis;
  }
  return changed ? std::optional(std::move(options)) : std::nullopt;
}

/// Steps of a sequence that are taken together at most: more of them take fewer cycles, and longer
/// to plan.
int64_t mostTogether(Effort effort) {
  switch (effort) {
  case Effort::Fast:
    return 2;
  case Effort::Default:
    return 5; // divides what people count in
  case Effort::High:
    return 16;
  }
  return 1;
}

/// Other ways to compile a model that does not fit as it was compiled first.
class OtherWays {
public:
  /// `result` and `problems` are those of the first way, and become those of the way that fits or
  /// comes closest to fitting.
  OtherWays(const CompileOptions &options, ImportOnce &imported, CompileResult &result,
            Problems &problems)
      : options(options), imported(imported), result(result), problems(problems) {}

  /// With rows along other axes than those that seemed cheapest.
  bool alongOthers() {
    const std::vector<format::HostTensor> chosen = result.inputs;
    for (const size_t fromLast : {0, 1})
      if (const auto others = along(options, chosen, fromLast))
        if (Way way; compile(*others, way))
          return true;
    return false;
  }

  /// The sequence a few steps at a time, as many as fit.
  bool inSteps() {
    int64_t least = std::numeric_limits<int64_t>::max(); // of those that were tried
    for (int64_t most = mostTogether(options.effort); most > 0;) {
      CompileOptions inSteps = options;
      inSteps.stepsTogether = most;
      Way way;
      if (compile(inSteps, way))
        return true;
      // Where only a multiple of some number can be taken, that may be more than is asked for, and
      // the same however few are.
      if (way.together == 0 || !way.lacksMemory || way.together >= least)
        return false;
      least = way.together;
      most = least / 2;
    }
    return false;
  }

private:
  /// Of one that does not fit.
  struct Way {
    bool lacksMemory = false;
    int64_t together = 0; ///< steps, if it takes several
  };

  bool compile(const CompileOptions &how, Way &way) {
    CompileResult other;
    Problems found;
    const bool compiled = compileChoices(how, imported, other, found, nullptr);
    if (!compiled)
      way = {doesNotFit(found), other.steps ? other.steps->together : 0};
    const bool closer = doesNotFit(found) && doesNotFit(problems) && !other.memory.empty() &&
                        !result.memory.empty() &&
                        plan::distanceOf(other.memory) < plan::distanceOf(result.memory);
    if (!compiled && !closer)
      return false;
    if (!compiled)
      for (Problem &problem : found)
        problem.notes.insert(problem.notes.begin(), nameOf(how, other));
    result = std::move(other);
    problems = std::move(found);
    return compiled;
  }

  /// What makes it another way than the first.
  [[nodiscard]] std::string nameOf(const CompileOptions &how, const CompileResult &other) const {
    if (other.steps)
      return other.steps->text;
    std::string text = "the layout that comes closest to fitting is";
    for (size_t i = options.dataDims.size(); i < how.dataDims.size(); ++i)
      text += fmt::format(" --data-dim {}={}", how.dataDims[i].first, how.dataDims[i].second);
    return text;
  }

  const CompileOptions &options;
  ImportOnce &imported;
  CompileResult &result;
  Problems &problems;
};

} // namespace

bool compileAnyWay(const CompileOptions &options, ImportOnce &imported, CompileResult &result,
                   Problems &problems, Repairs *repairs) {
  if (compileChoices(options, imported, result, problems, repairs))
    return true;
  // Loops that are too long to be written out are refused before anything is laid out.
  const bool tooLong = !problems.empty() && problems.front().isFor<TooLong>();
  const bool tooLarge = doesNotFit(problems) && options.stage >= Stage::Plan;
  // The cheapest layout may want all rows at once, where one whose positions come one
  // after the other does not: those of a sequence have their features last, those of a signal
  // their channels before.
  const bool trySteps = mayTakeSteps(options) && !options.writeOut;
  OtherWays others(options, imported, result, problems);
  if ((tooLarge && others.alongOthers()) || ((tooLarge || tooLong) && trySteps && others.inSteps()))
    return true;
  if (!tooLong || !trySteps)
    return false;
  CompileOptions writtenOut = options;
  writtenOut.writeOut = true;
  result = {};
  problems.clear();
  return compileAnyWay(writtenOut, imported, result, problems, repairs);
}

} // namespace sluice::pipeline
