#include "compiler/pipeline/one_way.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "compiler/conversion/rows/transport.h"
#include "compiler/pipeline/back.h"
#include "compiler/pipeline/choices.h"
#include "compiler/pipeline/front.h"
#include "compiler/pipeline/input_axes.h"
#include "compiler/pipeline/stored_constants.h"
#include "compiler/support/lack.h"
#include "compiler/support/suggestion.h"
#include "runtime/format/targets.h"

namespace sluice::pipeline {

namespace {

/// Returns the multiplications of the last form that is made; its variants have as many.
uint64_t macsOf(const std::vector<conversion::Form> &forms) {
  const auto last = std::ranges::find_if(forms.rbegin(), forms.rend(), &conversion::Form::isMade);
  return last->program().macs;
}

/// Returns whether the phases reach options.stage.
bool runPhases(const CompileOptions &options, ImportOnce &imported, Repairs *repairs,
               Compilation &made) {
  CompileResult &result = made.result;
  Problems &problems = made.problems;
  const auto target = options.geometry
                          ? std::variant<format::Geometry, format::FileProblem>(*options.geometry)
                          : format::loadTarget(options.target);
  if (const auto *wrong = std::get_if<format::FileProblem>(&target)) {
    Problem problem;
    problem.code = wrong->code;
    if (!wrong->names.empty()) // the name is unknown
      problem.reason = WrongOption();
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
  auto [module, forms] = runFront(options, imported, geometry, made, repairs);
  if (!problems.empty() || result.stopped)
    return false;
  if (forms.empty())
    return true; // an earlier stage was asked for, or nothing is left to compile
  if (options.ioOnly) {
    result.notes.emplace_back(
        "the program transports inputs and outputs (--io-only): its outputs are zero");
    rows::Program transport = rows::transportOf(forms.front().program());
    forms.clear();
    forms.emplace_back(std::move(transport));
    result.parameters = 0;
  } else {
    result.accelerated = result.operators;
  }
  result.macs = macsOf(forms);
  return runBack(std::move(forms), options, made);
}

} // namespace

Compilation compileOneWay(const CompileOptions &options, ImportOnce &imported, Repairs *repairs) {
  Compilation made;
  const bool compiles = runPhases(options, imported, repairs, made);
  nameConstants(made.result.constants, made.problems);
  if (compiles)
    made.verdict = Compiles{made.result.cycles ? made.result.cycles->spaced : 0};
  else if (made.problems.empty() && made.result.stopped)
    made.verdict = Unfinished();
  else
    made.verdict = verdictOf(made.problems);
  return made;
}

namespace {

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
  /// `best` is the first way, and becomes the way that fits or comes closest to fitting.
  OtherWays(const CompileOptions &options, ImportOnce &imported, Compilation &best)
      : options(options), imported(imported), best(best) {}

  /// With rows along other axes than those that seemed cheapest.
  bool alongOthers() {
    const std::vector<format::HostTensor> chosen = best.result.inputs;
    for (const size_t fromLast : {0, 1})
      if (auto others = along(options, chosen, fromLast)) {
        // keepCloser() drops a bound if a plan says what the best way lacks.
        others->onlyFitting = !isBound(best.problems);
        if (compile(std::move(*others)).compiles)
          return true;
      }
    return false;
  }

  /// The sequence a few steps at a time, as many as fit.
  bool inSteps() {
    if (fewestAreFar())
      return false;
    int64_t least = std::numeric_limits<int64_t>::max(); // of those that were tried
    for (int64_t most = mostTogether(options.effort); most > 0;) {
      CompileOptions inSteps = options;
      inSteps.stepsTogether = most;
      const Way way = compile(inSteps);
      if (way.compiles)
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
  struct Way {
    bool compiles = false, lacksMemory = false;
    int64_t together = 0; ///< steps, if it takes several
  };

  Way compile(CompileOptions how) {
    how.advise = false; // nobody sees the problems of a way that fails
    Compilation other = compileChoices(how, imported, nullptr);
    const Way way{other.compiles(), other.is<Lacks>(),
                  other.result.steps ? other.result.steps->together : 0};
    if (way.compiles)
      best = std::move(other);
    else
      keepCloser(how, std::move(other));
    return way;
  }

  /// Whether what lacks memory was found before anything was planned: a plan may lack more.
  static bool isBound(const Problems &problems) {
    return std::ranges::any_of(problems, [](const Problem &problem) {
      const auto *lacks = std::get_if<LacksMemory>(&problem.reason);
      return lacks && lacks->atLeast;
    });
  }

  void keepCloser(const CompileOptions &how, Compilation other) {
    if (!other.is<Lacks>() || !best.is<Lacks>() || lackOf(other.problems) >= lackOf(best.problems))
      return;
    if (isBound(other.problems) && !isBound(best.problems))
      return;
    for (Problem &problem : other.problems)
      problem.notes.insert(problem.notes.begin(), nameOf(how, other.result));
    best = std::move(other);
  }

  /// So many times too much is far from fitting: no search finds a plan with so much less.
  static constexpr double kFar = 1.5;

  /// Whether the fewest steps that can be taken together have far too many rows: more steps have as
  /// many or more.
  bool fewestAreFar() {
    if (lackOf(best.problems) < kFar)
      return false;
    CompileOptions fewest = options;
    fewest.stepsTogether = 1;
    fewest.effort = Effort::Fast;
    Compilation other = compileChoices(fewest, imported, nullptr);
    const bool far =
        other.is<Lacks>() && std::ranges::any_of(other.problems, [](const Problem &problem) {
          const auto *lacks = std::get_if<LacksMemory>(&problem.reason);
          return lacks && lacks->memory == "inbox rows" &&
                 static_cast<double>(lacks->needed) >= kFar * static_cast<double>(lacks->available);
        });
    if (far)
      keepCloser(fewest, std::move(other));
    return far;
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
  Compilation &best;
};

} // namespace

Compilation compileAnyWay(const CompileOptions &options, ImportOnce &imported, Repairs *repairs) {
  Compilation best = compileChoices(options, imported, repairs);
  if (best.compiles())
    return withFewerRows(options, imported, std::move(best));
  const bool tooLong = best.is<TooLong>();
  const bool tooLarge = best.is<Lacks>() && options.stage >= Stage::Plan;
  // The cheapest layout may want all rows at once, where one whose positions come one
  // after the other does not: those of a sequence have their features last, those of a signal
  // their channels before.
  const bool trySteps = mayTakeSteps(options) && !options.writeOut;
  OtherWays others(options, imported, best);
  const bool fits =
      (tooLarge && others.alongOthers()) || ((tooLarge || tooLong) && trySteps && others.inSteps());
  if (fits || !tooLong || !trySteps)
    return best;
  CompileOptions writtenOut = options;
  writtenOut.writeOut = true;
  return compileAnyWay(writtenOut, imported, repairs);
}

} // namespace sluice::pipeline
