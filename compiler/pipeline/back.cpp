#include "compiler/pipeline/back.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "compiler/conversion/model/to_core.h"
#include "compiler/pipeline/host_arrays.h"
#include "compiler/pipeline/option_words.h"
#include "compiler/support/lack.h"
#include "compiler/target/core_program.h"
#include "compiler/target/save_state.h"
#include "runtime/format/program_file.h"
#include "sim/vm/timing.h"
#include "sim/vm/work_ahead.h"

namespace sluice::pipeline {

Problem internalError(const std::string &what) {
  Problem problem;
  problem.code = "E0499";
  problem.reason = InternalError();
  problem.message = "internal error: " + what;
  return problem;
}

namespace {

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

/// Plan -> core dialect, whose text is kept with Stage::Core, and -> program up to Stage::Program.
bool emit(const plan::Plan &plan, Stage kept, Stage last, CompileResult &result,
          Problems &problems) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  const mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    problems.push_back(internalError(diagnostic.str()));
  });
  const mlir::OwningOpRef<core::ProgramOp> program = conversion::toCore(context, plan);
  if (!program)
    return false;
  if (kept == Stage::Core) {
    llvm::raw_string_ostream stream(result.text);
    (*program)->print(stream);
    stream << '\n';
  }
  if (last == Stage::Core)
    return true;
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
    split.readsByCores = stage.readsByCores;
    split.why = fmt::format("{} cycles, the fewest of {} plans: {}", explanation.cycles,
                            plan::plansNotChosen(explanation) + 1, explanation.choice);
    if (const plan::Loser *next = plan::nextBest(explanation))
      split.why += fmt::format("; the next best takes {}: {}", *next->cycles, next->choice);
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

} // namespace

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
      problem.reason = WrongOption();
      problem.message = fmt::format("--core-partition '{}={}': core {}, allowed: 0 to {}", node,
                                    fmt::join(cores, ","), core, geometry.cores - 1);
      problems.push_back(std::move(problem));
    }
  }
  return pins;
}

bool runBack(std::vector<conversion::Form> forms, const CompileOptions &options,
             Compilation &made) {
  CompileResult &result = made.result;
  Problems &problems = made.problems;
  const format::Geometry geometry = result.program.geometry;
  plan::PlanOptions planOptions;
  planOptions.pins = pinsOf(options, geometry, problems);
  if (!problems.empty())
    return false;
  planOptions.work = workOf(options.effort);
  if (options.limits)
    planOptions.stop = options.limits->planningWork;
  planOptions.explain = options.explain || options.spaces;
  planOptions.progress = options.progress;
  planOptions.interruption = options.interruption;
  plan::Plan plan;
  problems = [&] {
    const SearchScope scope(options.interruption);
    return conversion::planFastest(forms, planOptions, plan);
  }();
  result.memory = std::move(plan.memory);
  result.planningWork = plan.work;
  if (plan.timing)
    result.plannedCycles = static_cast<uint64_t>(plan.timing->spaced);
  result.stopped = plan.stopped;
  result.interrupted = plan.interrupted;
  if (!problems.empty()) {
    if (areFor<LacksMemory>(problems) && areFor<LacksMemory>(made.lacking) &&
        lackOf(made.lacking) < lackOf(problems))
      problems = std::move(made.lacking);
    return false;
  }
  forms.clear();
  result.explanation = std::move(plan.explanation);
  const bool isMeasured =
      options.measuresChoices && (result.hasSplitChoices || !options.splitChoices);
  const Stage last = isMeasured ? Stage::Program : options.stage;
  if (options.stage == Stage::Plan)
    result.text = std::move(plan.text);
  if (last == Stage::Plan || result.stopped)
    return true;

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
  result.program.options = optionText(options, geometry.name);
  if (options.progress)
    options.progress->stage("writing the program");
  if (!emit(plan, options.stage, last, result, problems)) {
    if (problems.empty())
      problems.push_back(internalError("the program could not be written"));
    return false;
  }
  if (last == Stage::Core)
    return true;
  for (const format::FileProblem &wrong : format::check(result.program))
    problems.push_back(internalError(wrong.message));
  if (options.progress)
    options.progress->stage("measuring");
  return problems.empty() && (!(options.measure || isMeasured) || measure(result, problems));
}

} // namespace sluice::pipeline
