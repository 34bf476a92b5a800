#include "compiler/pipeline/pipeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "compiler/check/check_program.h"
#include "compiler/conversion/model/fastest_plan.h"
#include "compiler/conversion/model/to_core.h"
#include "compiler/conversion/plan/report/fit.h"
#include "compiler/pipeline/front.h"
#include "compiler/support/suggestion.h"
#include "compiler/target/core_program.h"
#include "compiler/target/save_state.h"
#include "hw/numerics/numerics.h"
#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"
#include "sim/vm/timing.h"
#include "sim/vm/work_ahead.h"

namespace sluice::pipeline {
namespace {

Problem internalError(const std::string &what) {
  Problem problem;
  problem.code = "E0499";
  problem.message = "internal error: " + what;
  return problem;
}

/// The options that shape a program, as the program file records them.
std::string optionText(const CompileOptions &options, const format::Geometry &geometry) {
  std::string text = "--target " + geometry.name;
  for (const auto &[name, shape] : options.inputShapes)
    text += fmt::format(" --input-shape {}={}", name, fmt::join(shape, ","));
  for (const Binding &one : options.bindings)
    text += " --bind " + one.spec;
  for (const auto &[input, output] : options.states)
    text += fmt::format(" --state {}={}", input, output);
  for (const streaming::StreamedInput &one : options.streaming.inputs)
    text += fmt::format(" --stream {}={}:{}", one.name, one.axis, one.steps);
  if (options.streaming.delay > 0)
    text += fmt::format(" --stream-delay {}", options.streaming.delay);
  for (const auto &[name, dim] : options.dataDims)
    text += fmt::format(" --data-dim {}={}", name, dim);
  for (const auto &[node, cores] : options.corePartition)
    text += fmt::format(" --core-partition {}={}", node, fmt::join(cores, ","));
  if (options.allowDynamicWeights)
    text += " --allow-dynamic-weights";
  if (options.rewriteLayout)
    text += " --rewrite-layout";
  if (options.fixedRandom)
    text += " --fixed-random";
  for (const std::string &one : options.withoutRewrites)
    text += " --without-rewrite " + one;
  constexpr std::string_view kEfforts[] = {"fast", "default", "high"};
  return text + fmt::format(" --effort {}", kEfforts[static_cast<size_t>(options.effort)]);
}

/// The operations that stay on some cores; a problem for each core that the target has not.
std::vector<plan::Pin> pinsOf(const CompileOptions &options, const format::Geometry &geometry,
                              Problems &problems) {
  std::vector<plan::Pin> pins;
  for (const auto &[node, cores] : options.corePartition) {
    plan::Pin &pin = pins.emplace_back(plan::Pin{node, 0});
    for (const int64_t core : cores) {
      if (core >= 0 && core < int64_t{geometry.cores}) {
        pin.cores |= 1U << core;
        continue;
      }
      Problem problem;
      problem.code = "E0601";
      problem.message = fmt::format("--core-partition '{}={}': core {}, allowed: 0 to {}", node,
                                    fmt::join(cores, ","), core, geometry.cores - 1);
      problems.push_back(std::move(problem));
    }
  }
  return pins;
}

/// What checking may cost, in nanoseconds: of every compilation, and for each beat that the planner
/// looks at.
constexpr uint64_t kWorkToCheck = 10'000'000, kCheckedPerBeat = 30;

/// What the search for a plan may cost.
uint64_t workOf(Effort effort) {
  switch (effort) {
  case Effort::Fast:
    return 0;
  case Effort::Default:
    return plan::kDefaultWork;
  case Effort::High:
    return 16 * plan::kDefaultWork;
  }
  return 0;
}

/// What the rows are that instructions write.
void nameRows(const plan::Plan &plan, CompileResult &result) {
  format::Program &program = result.program;
  program.tensors = plan.tensors;
  for (format::ModelTensor &tensor : program.tensors)
    tensor.ofStep = result.steps && std::ranges::find(result.steps->parts, tensor.name) !=
                                        result.steps->parts.end();
  for (uint32_t core = 0; core < program.cores.size(); ++core)
    for (uint32_t i = 0; i < plan.lists[core].size(); ++i)
      if (const auto &rules = plan.lists[core][i].rows; !rules.empty())
        program.computedRows.push_back({core, i, rules});
}

/// Plan -> core dialect -> program; with Stage::Core only the text.
bool emit(const plan::Plan &plan, Stage stage, CompileResult &result, Problems &problems) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  const mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    problems.push_back(internalError(diagnostic.str()));
  });
  const mlir::OwningOpRef<core::ProgramOp> program = conversion::toCore(context, plan);
  if (!program)
    return false;
  if (stage == Stage::Core) {
    llvm::raw_string_ostream stream(result.text);
    (*program)->print(stream);
    stream << '\n';
    return true;
  }
  if (!core::emitInstructions(*program, result.program))
    return false;
  nameRows(plan, result);
  // Between inferences of several steps there is no state.
  if (plan.stateRests && !result.program.state.places.empty() && !result.steps)
    core::appendSave(result.program); // without room for it, the state cannot be saved
  return true;
}

/// Which cores have the rows of each stage.
std::vector<TakenSplit> splitsOf(const plan::Explanation &explanation,
                                 const std::vector<format::SourceNode> &nodes) {
  std::vector<TakenSplit> splits;
  for (const plan::ExplainedStage &stage : explanation.stages) {
    if (stage.nodes.empty())
      continue;
    TakenSplit split;
    for (const uint32_t node : stage.nodes)
      split.nodes.push_back(nodes[node].index);
    split.rows = stage.rows;
    split.rowsByCore = stage.rowsByCore;
    split.why = fmt::format("{} cycles, the fewest of {} plans: {}", explanation.cycles,
                            explanation.losers.size() + 1, explanation.choice);
    splits.push_back(std::move(split));
  }
  return splits;
}

bool measure(CompileResult &result, Problems &problems) {
  const std::optional<vm::Timing> timing = vm::measureTiming(result.program);
  if (!timing) {
    problems.push_back(internalError("the program stalls"));
    return false;
  }
  const auto rounded = [](double cycles) { return static_cast<uint64_t>(std::ceil(cycles)); };
  result.cycles = Cycles{timing->spaced, rounded(timing->contiguous), rounded(timing->period)};
  if (!result.program.state.places.empty() && result.program.models.front().steps == 1)
    result.cycles->ahead = vm::cyclesAhead(result.program);
  return true;
}

/// A program of one step becomes one of an inference.
void setSteps(const StepsTaken &steps, CompileResult &result) {
  format::Model &model = result.program.models.front();
  model.steps = static_cast<uint32_t>(steps.trips);
  model.macs *= model.steps;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    model.inputs[i].shape = result.inputs[i].shape = steps.inputShapes[i];
    model.inputs[i].stepAxis = steps.inputAxes[i];
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    model.outputs[i].shape = steps.outputShapes[i];
    model.outputs[i].stepAxis = steps.outputs[i].axis;
    model.outputs[i].skipped = static_cast<uint32_t>(steps.outputs[i].skipped);
  }
  result.macs = model.macs;
}

/// The table of a lookup as the host has it: of integers that wrap around, only those from 0 on.
format::Lookup lookupOf(const frontend::ArrayLookup &from) {
  format::Lookup lookup{from.first, 1, {}};
  for (const int64_t extent : from.inner)
    lookup.rowElements *= static_cast<uint32_t>(extent);
  for (const float value : from.values)
    lookup.values.push_back(numerics::roundToBf16(value));
  const auto half = static_cast<ptrdiff_t>(lookup.values.size() / 2);
  if (lookup.first == -lookup.rows() / 2 && lookup.rows() % 2 == 0 &&
      std::equal(lookup.values.begin(), lookup.values.begin() + half,
                 lookup.values.begin() + half)) {
    lookup.values.erase(lookup.values.begin(), lookup.values.begin() + half);
    lookup.first = 0;
  }
  return lookup;
}

/// Says what the host makes the inputs from.
void setArrays(const CompileResult &result, format::Model &model) {
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (const auto &lookup = result.made[i].lookup)
      model.inputs[i].lookup = lookupOf(*lookup);
  for (size_t i = 0; i < model.inputs.size(); ++i)
    model.inputs[i].quantised = result.made[i].quantised;
  for (size_t i = 0; i < model.outputs.size(); ++i)
    model.outputs[i].quantised = result.given[i].quantised;
  for (const frontend::ImportedTensor &one : result.arrays)
    model.arrays.push_back({one.name, one.shape, one.type, one.limits});
  for (size_t i = 0; i < model.inputs.size() && !model.arrays.empty(); ++i) {
    format::HostTensor &input = model.inputs[i];
    input.array = static_cast<uint32_t>(result.made[i].array);
    // Streaming may have left a part of it.
    const auto rank = static_cast<ptrdiff_t>(model.arrays[input.array].shape.size());
    model.arrays[input.array].shape.assign(input.shape.begin(), input.shape.begin() + rank);
  }
}

/// With the data dimensions that the layout rules choose.
bool compileOnce(const CompileOptions &options, CompileResult &result, Problems &problems) {
  const auto target = format::loadTarget(options.target);
  if (const auto *wrong = std::get_if<format::FileProblem>(&target)) {
    Problem problem;
    problem.code = wrong->code;
    problem.message = wrong->message;
    if (wrong->code == "E0515")
      problem.fixes = suggestion(options.target, format::presetNames());
    problems.push_back(std::move(problem));
    return false;
  }
  const auto &geometry = std::get<format::Geometry>(target);
  result.program.geometry = geometry;
  result.peakMacsPerCycle = uint64_t{geometry.cores} * geometry.lanes * geometry.lanes;
  plan::PlanOptions planOptions;
  planOptions.pins = pinsOf(options, geometry, problems);
  if (!problems.empty())
    return false;

  std::vector<rows::Program> forms = runFront(options, geometry, result, problems);
  if (!problems.empty())
    return false;
  if (forms.empty())
    return true; // an earlier stage was asked for, or nothing is left to compile
  result.accelerated = result.operators;
  result.macs = forms.back().macs;

  plan::Plan plan;
  planOptions.work = workOf(options.effort);
  planOptions.explain = options.explain || options.spaces;
  planOptions.progress = options.progress;
  const bool planned = conversion::planFastest(forms, planOptions, plan, problems);
  result.memory = std::move(plan.memory);
  result.planningWork = plan.work;
  if (!planned)
    return false;
  forms.clear();
  result.explanation = std::move(plan.explanation);
  if (options.stage == Stage::Plan) {
    result.text = std::move(plan.text);
    return true;
  }

  result.program = std::move(plan.program);
  if (result.steps)
    setSteps(*result.steps, result);
  setArrays(result, result.program.models.front());
  if (options.spaces && result.explanation)
    result.splits = splitsOf(*result.explanation, result.program.nodes);
  plan.program = {};
  plan.program.geometry = result.program.geometry;
  plan.program.models = result.program.models;
  plan.program.nodes = result.program.nodes;
  result.program.compilerVersion = SLUICE_VERSION;
  result.program.options = optionText(options, geometry);
  if (options.progress)
    options.progress->stage("writing the program");
  if (!emit(plan, options.stage, result, problems)) {
    if (problems.empty())
      problems.push_back(internalError("the program could not be written"));
    return false;
  }
  if (options.stage == Stage::Core)
    return true;
  for (const format::FileProblem &wrong : format::check(result.program))
    problems.push_back(internalError(wrong.message));
  if (options.progress)
    options.progress->stage("measuring");
  return problems.empty() && (!options.measure || measure(result, problems));
}

/// Whether only memory keeps a model from being compiled.
bool doesNotFit(const Problems &problems) {
  return !problems.empty() && std::ranges::all_of(problems, [](const Problem &problem) {
    return problem.code >= "E0401" && problem.code <= "E0407";
  });
}

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
  OtherWays(const CompileOptions &options, CompileResult &result, Problems &problems)
      : options(options), result(result), problems(problems) {}

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
    const bool compiled = compileOnce(how, other, found);
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
  CompileResult &result;
  Problems &problems;
};

/// Compiles in the first way in which the model fits.
bool compileSomehow(const CompileOptions &options, CompileResult &result, Problems &problems) {
  if (compileOnce(options, result, problems))
    return true;
  // Loops that are too long to be written out are refused before anything is laid out.
  const bool tooLong = !problems.empty() && problems.front().code == "E0415";
  const bool tooLarge = doesNotFit(problems) && options.stage >= Stage::Plan;
  // The cheapest layout may want all rows at once, where one whose positions come one
  // after the other does not: those of a sequence have their features last, those of a signal
  // their channels before.
  const bool trySteps = mayTakeSteps(options) && !options.writeOut;
  OtherWays others(options, result, problems);
  if ((tooLarge && others.alongOthers()) || ((tooLarge || tooLong) && trySteps && others.inSteps()))
    return true;
  if (!tooLong || !trySteps)
    return false;
  CompileOptions writtenOut = options;
  writtenOut.writeOut = true;
  result = {};
  problems.clear();
  return compileSomehow(writtenOut, result, problems);
}

/// Compares the finished program with the graph as it was imported.
bool checkResult(const CompileOptions &options, CompileResult &result, Problems &problems) {
  if (!options.check || !result.oracle || options.stage != Stage::Program || result.constant)
    return true;
  check::Options how = *options.check;
  how.work = kWorkToCheck + kCheckedPerBeat * result.planningWork;
  how.given = result.calibration;
  result.checked = check::checkProgram(*result.oracle, result.program, result.streamed.get(), how,
                                       options.progress);
  if (!result.checked->problem)
    return true;
  problems.push_back(*result.checked->problem);
  return false;
}

bool areOfLayout(const Problems &problems) {
  return !problems.empty() && llvm::all_of(problems, [](const Problem &problem) {
    return llvm::StringRef(problem.code).starts_with("E03");
  });
}

/// Compiles with each of some flags, and keeps the program with the fewest cycles. Of equals, it
/// keeps the first. Changes nothing if none compiles.
bool compileFastest(const CompileOptions &options, llvm::ArrayRef<LayoutFlags> fixes,
                    CompileResult &result, Problems &problems) {
  std::vector<LayoutFlags> compiled;
  std::optional<CompileResult> best;
  for (LayoutFlags fix : fixes) {
    CompileOptions how = options;
    how.allowDynamicWeights = fix.allowDynamicWeights;
    how.rewriteLayout = fix.rewriteLayout;
    CompileResult other;
    Problems ignored;
    if (!compileSomehow(how, other, ignored))
      continue;
    fix.cycles = other.cycles ? other.cycles->spaced : 0;
    const bool isFaster = compiled.empty() || fix.cycles < compiled.front().cycles;
    compiled.insert(isFaster ? compiled.begin() : compiled.end(), fix);
    if (isFaster)
      best = std::move(other);
  }
  if (!best)
    return false;
  result = std::move(*best);
  result.fixes = std::move(compiled);
  problems.clear();
  return true;
}

/// Compiles, with the fixes of layout errors that cost the fewest cycles if they may be applied.
bool compileFixed(const CompileOptions &options, CompileResult &result, Problems &problems) {
  constexpr LayoutFlags kDynamic{.allowDynamicWeights = true}, kRewrite{.rewriteLayout = true},
      kBoth{.allowDynamicWeights = true, .rewriteLayout = true};
  if (options.allowDynamicWeights && options.rewriteLayout) {
    // The rewrites are chosen by a rough model, so one flag alone may be faster.
    if (!compileFastest(options, {kBoth, kRewrite, kDynamic}, result, problems))
      return compileSomehow(options, result, problems);
    if (!options.applyFixes)
      result.fixes.clear();
    return true;
  }
  if (compileSomehow(options, result, problems))
    return true;
  if (!options.applyFixes || !areOfLayout(problems))
    return false;
  if (options.allowDynamicWeights || options.rewriteLayout)
    return compileFastest(options, {kBoth}, result, problems);
  return compileFastest(options, {kRewrite, kDynamic, kBoth}, result, problems);
}

} // namespace

std::string LayoutFlags::flags() const {
  return fmt::format("{}{}{}", allowDynamicWeights ? "--allow-dynamic-weights" : "",
                     allowDynamicWeights && rewriteLayout ? " " : "",
                     rewriteLayout ? "--rewrite-layout" : "");
}

bool compileModel(const CompileOptions &options, CompileResult &result, Problems &problems) {
  return compileFixed(options, result, problems) && checkResult(options, result, problems);
}

} // namespace sluice::pipeline
