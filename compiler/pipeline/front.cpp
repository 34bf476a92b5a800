#include "compiler/pipeline/front.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "compiler/check/check_program.h"
#include "compiler/conversion/model/forms.h"
#include "compiler/conversion/rows/program_ops.h"
#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/unrolling.h"
#include "compiler/layout/lay_out.h"
#include "compiler/pipeline/copy_trials.h"
#include "compiler/pipeline/explain_spaces.h"
#include "compiler/pipeline/host_arrays.h"
#include "compiler/pipeline/input_parts.h"
#include "compiler/pipeline/repairs.h"
#include "compiler/pipeline/rewrites.h"
#include "compiler/pipeline/stored_constants.h"
#include "compiler/streaming/whole.h"
#include "compiler/transforms/passes.h"

namespace sluice::pipeline {
namespace {

std::string printed(mlir::Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  if (!text.ends_with('\n'))
    text += '\n';
  return text;
}

/// What is known of the numbers that the host sends.
rows::Number numberOf(const frontend::ImportedTensor &input) {
  rows::Number number;
  number.distance = 0;
  if (input.lookup) {
    for (const float value : input.lookup->values)
      number.high = std::max(std::isinf(number.high) ? 0 : number.high,
                             std::fabs(static_cast<double>(value)));
    number.low = -number.high;
    return rows::stored(number);
  }
  if (const auto limits = input.quantised ? std::optional(input.quantised->limits) : input.limits)
    return rows::Number::exact(static_cast<double>(limits->low), static_cast<double>(limits->high),
                               true);
  return input.type == format::HostType::BFloat16 ? number : rows::stored(number);
}

std::vector<format::HostTensor> hostTensors(const std::vector<frontend::ImportedTensor> &imported) {
  std::vector<format::HostTensor> tensors;
  for (const frontend::ImportedTensor &one : imported)
    tensors.push_back(hostTensor(one));
  return tensors;
}

std::string modelName(const CompileOptions &options, const std::string &graphName) {
  if (!options.modelName.empty())
    return options.modelName;
  if (options.modelPath != "-")
    return std::filesystem::path(options.modelPath).stem().string();
  return graphName.empty() ? "model" : graphName;
}

/// One run over one model. MLIR's own errors become problems, in case a pass
/// fails without one.
class Front {
public:
  Front(const CompileOptions &options, ImportOnce &imported, const format::Geometry &geometry,
        Compilation &made, Repairs *repairs)
      : options(options), imported(imported), geometry(geometry), result(made.result),
        problems(made.problems), lacking(made.lacking), repairs(repairs),
        context(*imported.context()), handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            errors.push_back(diagnostic.str());
        }) {}

  FrontForms run() {
    llvm::append_range(problems, unknownRewrites(context, options.withoutRewrites));
    if (!problems.empty())
      return {};
    mlir::OwningOpRef<mlir::ModuleOp> module = import();
    if (!module)
      return {};
    auto main = mainOf(*module);
    if (main && options.check && !options.ioOnly)
      imported.setOracle(result, problems);
    if (!problems.empty())
      return {};
    if (main && !(options.stepsTogether > 0 ? takeSteps(main) : stream(main)))
      return {};
    if (options.stage == Stage::Graph) {
      result.text = printed(*module);
      return {};
    }
    if (info.inputs.empty()) {
      result.constant = true;
      result.notes.push_back(constantsText(namesOf(info.outputs)));
      if (!options.allowConstant)
        refuseConstant();
      return {};
    }
    stage("laying out");
    if (!main || !unroll(main) || !layout(*module, main))
      return {};
    if (const auto names = constantOutputs(main); !names.empty())
      result.notes.push_back(constantsText(names));
    if (options.spaces)
      result.spaces = explainSpaces(main, geometry.lanes);
    if (options.stage == Stage::Layout) {
      result.text = printed(*module);
      return {};
    }
    result.constants = storedConstants(main, geometry);
    stage("lowering to rows");
    conversion::ModelForms found = conversion::formsOf(*module, geometry, modelInfo(),
                                                       {options.onlyLoops, options.onlyFitting});
    note(found.notes);
    llvm::append_range(problems, found.problems);
    result.exactNodes = std::move(found.exactNodes);
    lacking = std::move(found.lacking);
    if (options.stage == Stage::Rows) {
      for (conversion::Form &form : found.forms)
        if (const rows::Program *program = form.program(problems))
          result.text += printed(*rows::toOps(context, *program));
      return {};
    }
    return {std::move(module), std::move(found.forms)};
  }

  /// If a phase failed without a problem of its own.
  void explainFailure() {
    if (!problems.empty() || result.constant || result.stopped)
      return;
    Problem problem;
    problem.code = "E0499";
    problem.reason = InternalError();
    problem.message = "internal error: a compiler pass failed";
    problem.notes = errors;
    problems.push_back(std::move(problem));
  }

private:
  const CompileOptions &options;
  ImportOnce &imported;
  const format::Geometry &geometry;
  CompileResult &result;
  Problems &problems;
  Problems &lacking;
  Repairs *repairs; ///< may be null
  mlir::MLIRContext &context;
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler;
  frontend::ImportedModel info;

  void stage(const char *name) const {
    if (options.progress)
      options.progress->stage(name);
  }

  void note(const std::vector<std::string> &notes) {
    result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  }

  static mlir::func::FuncOp mainOf(mlir::ModuleOp module) {
    return module.lookupSymbol<mlir::func::FuncOp>("main");
  }

  static std::vector<std::string> namesOf(const std::vector<frontend::ImportedTensor> &tensors) {
    std::vector<std::string> names;
    for (const frontend::ImportedTensor &one : tensors)
      names.push_back(fmt::format("'{}'", one.name));
    return names;
  }

  /// The outputs that are known once constants are folded.
  std::vector<std::string> constantOutputs(mlir::func::FuncOp main) const {
    std::vector<frontend::ImportedTensor> constants;
    for (auto [output, value] :
         llvm::zip_equal(info.outputs, main.front().getTerminator()->getOperands()))
      if (value.getDefiningOp<ir::ConstantOp>())
        constants.push_back(output);
    return namesOf(constants);
  }

  static std::string constantsText(const std::vector<std::string> &names) {
    return names.size() == 1
               ? fmt::format("output {} is a constant; it depends on no input", names[0])
               : fmt::format("outputs {} are constants; they depend on no input",
                             fmt::join(names, ", "));
  }

  /// An inference begins with its first input row; without one there is none.
  void refuseConstant() {
    Problem problem;
    problem.code = "E0118";
    problem.message = "nothing to compile: the model is valid, but it has no input at run time";
    problem.notes = {result.notes.back()};
    Fix fix;
    fix.text = options.bindings.empty()
                   ? "compute the outputs once, with any ONNX runtime"
                   : "bind only the inputs that are the same in every inference (--bind)";
    problem.fixes.push_back(fix);
    problems.push_back(std::move(problem));
  }

  rows::ModelInfo modelInfo() const {
    rows::ModelInfo model;
    model.name = modelName(options, info.name);
    model.inputs = hostTensors(info.inputs);
    model.outputs = hostTensors(info.outputs);
    for (const frontend::ImportedTensor &input : info.inputs)
      model.inputNumbers.push_back(numberOf(input));
    model.nodes = info.nodes;
    model.parameters = info.parameters;
    return model;
  }

  mlir::OwningOpRef<mlir::ModuleOp> import() {
    frontend::Import copy = imported.copy();
    llvm::append_range(problems, copy.problems);
    errors = imported.errors();
    info = std::move(copy.info);
    result.operators = static_cast<uint32_t>(info.nodes.size());
    result.parameters = info.parameters;
    result.arrays = info.arrays;
    result.made = info.inputs;
    result.given = info.outputs;
    result.inputs = hostTensors(info.inputs);
    result.notes = info.notes;
    return std::move(copy.module);
  }

  /// A loop of more operations than that, written out, fits hardly any target, and finding that out
  /// takes long.
  static constexpr int64_t kSeldomFits = 2'000;

  /// Layout knows no loops: they are written out before it.
  bool unroll(mlir::func::FuncOp main) {
    if (!options.writeOut && mayTakeSteps(options)) {
      const auto loops = main.getOps<ir::LoopOp>();
      const auto isLong = [](ir::LoopOp loop) {
        return ir::operationsPerTrip(loop) > kSeldomFits / static_cast<int64_t>(loop.getTrips());
      };
      if (const auto first = llvm::find_if(loops, isLong);
          first != loops.end() && streaming::wholeSequence(main, 1)) {
        ir::LoopOp loop = *first;
        problems.push_back(
            ir::tooLongToUnroll(std::to_string(loop.getTrips()), ir::operationsPerTrip(loop)));
        return false;
      }
    }
    const ir::UnrolledLoops unrolled = ir::unrollLoops(main);
    problems.insert(problems.end(), unrolled.problems.begin(), unrolled.problems.end());
    follow(unrolled.replaced);
    return unrolled.problems.empty();
  }

  /// A tensor of the model has the shape of what stands for it.
  static void setShape(auto &tensor, mlir::Value value) {
    const auto shape = ir::shapeOf(value);
    tensor.shape.assign(shape.begin(), shape.end());
  }

  /// The tensors of the graph are what stands for them now.
  void follow(const llvm::DenseMap<mlir::Value, mlir::Value> &replaced) {
    llvm::erase_if(info.tensors, [&](frontend::GraphTensor &one) {
      const auto other = replaced.find(one.value);
      if (other == replaced.end())
        return false;
      one.value = other->second;
      return !one.value; // nobody reads it
    });
  }

  /// Rewrites carry the names on, and rows of values that have one are named by it.
  void nameTensors() {
    for (const frontend::GraphTensor &one : info.tensors)
      if (one.value && ir::shapeOf(one.value) == llvm::ArrayRef(one.shape))
        ir::setModelTensor(one.value, one.name);
  }

  /// The inputs of the function that are made from one of the host.
  [[nodiscard]] std::vector<streaming::StreamedInput>
  madeFrom(const streaming::StreamedInput &array) const {
    std::vector<streaming::StreamedInput> inputs;
    for (const frontend::ImportedTensor &input : info.inputs)
      if (!info.arrays.empty() && info.arrays[input.array].name == array.name) {
        inputs.push_back(array);
        inputs.back().name = input.name;
      }
    return inputs.empty() ? std::vector{array} : inputs;
  }

  /// With --stream.
  bool stream(mlir::func::FuncOp main) {
    if (options.streaming.inputs.empty())
      return true;
    stage("streaming");
    streaming::Options streaming = options.streaming;
    streaming.inputs.clear();
    for (const streaming::StreamedInput &one : options.streaming.inputs)
      for (streaming::StreamedInput &input : madeFrom(one))
        streaming.inputs.push_back(std::move(input));
    const auto streamed = streamBy(main, streaming);
    if (streamed) {
      note(streamed->notes);
      result.streamed = std::make_shared<const check::Streamed>(streaming.inputs, streamed->outputs,
                                                                streamed->late);
    }
    return streamed.has_value();
  }

  /// A few steps of the whole sequence in each of several trips.
  bool takeSteps(mlir::func::FuncOp main) {
    stage("streaming");
    const auto whole = streaming::wholeSequence(main, options.stepsTogether);
    if (!whole) {
      Problem problem;
      problem.code = "E0207";
      problem.message = "cannot stream: the model does not process a sequence step by step";
      problems.push_back(std::move(problem));
      return false;
    }
    StepsTaken steps;
    steps.together = whole->options.inputs.front().steps;
    steps.trips = whole->trips;
    int64_t extent = 0;
    for (const frontend::ImportedTensor &input : info.inputs) {
      steps.inputShapes.push_back(input.shape);
      const auto streamed = llvm::find_if(whole->options.inputs,
                                          [&](const auto &one) { return one.name == input.name; });
      steps.inputAxes.push_back(streamed == whole->options.inputs.end()
                                    ? std::nullopt
                                    : std::optional(static_cast<unsigned>(streamed->axis)));
      if (steps.inputAxes.back())
        extent = input.shape[*steps.inputAxes.back()];
    }
    for (const frontend::ImportedTensor &output : info.outputs)
      steps.outputShapes.push_back(output.shape);
    std::map<std::string, std::vector<int64_t>> shapes;
    for (const frontend::GraphTensor &one : info.tensors)
      shapes[one.name] = one.shape;
    const auto streamed = streamBy(main, whole->options);
    if (!streamed)
      return false;
    steps.outputs = streamed->outputs;
    for (const frontend::GraphTensor &one : info.tensors)
      if (one.shape != shapes[one.name])
        steps.parts.push_back(one.name);
    std::vector<std::string> axes;
    for (const streaming::StreamedInput &input : whole->options.inputs)
      axes.push_back(fmt::format("'{}' (axis {})", input.name, input.axis));
    steps.text = fmt::format(
        "the {} steps of {} do not fit unrolled; the program runs {} times, {} step{} each", extent,
        fmt::join(axes, " and "), steps.trips, steps.together, steps.together == 1 ? "" : "s");
    note({steps.text});
    result.steps = std::move(steps);
    return true;
  }

  /// The problems are in `problems` where nothing is given.
  std::optional<streaming::Result> streamBy(mlir::func::FuncOp main,
                                            const streaming::Options &how) {
    streaming::Result streamed = streaming::stream(main, how);
    problems.insert(problems.end(), streamed.problems.begin(), streamed.problems.end());
    if (!streamed.problems.empty())
      return std::nullopt;
    follow(streamed.replaced);
    for (auto [input, argument] : llvm::zip_equal(info.inputs, main.getArguments()))
      setShape(input, argument);
    for (auto [output, value] :
         llvm::zip_equal(info.outputs, main.front().getTerminator()->getOperands()))
      setShape(output, value);
    for (frontend::GraphTensor &one : info.tensors)
      if (one.value)
        setShape(one, one.value);
    result.inputs = hostTensors(info.inputs);
    return streamed;
  }

  /// Tensors whose data dimension the options or the types of textual IR say.
  static void pinTensors(mlir::func::FuncOp main, const layout::DataDimensionOptions &options) {
    for (const auto &[name, axis] : options.pins)
      if (const auto named = options.names.find(name);
          named != options.names.end() && named->getValue())
        ir::pin(named->getValue());
    const auto pinTyped = [](mlir::Value value) {
      if (ir::dataDim(value))
        ir::pin(value);
    };
    llvm::for_each(main.getArguments(), pinTyped);
    for (mlir::Operation &op : main.front())
      llvm::for_each(op.getResults(), pinTyped);
  }

  bool layout(mlir::ModuleOp module, mlir::func::FuncOp main) {
    layout::DataDimensionOptions layoutOptions;
    layoutOptions.pins = options.dataDims;
    for (const frontend::GraphTensor &tensor : info.tensors)
      layoutOptions.names[tensor.name] = tensor.value;
    layoutOptions.lanes = geometry.lanes;
    layoutOptions.cores = geometry.cores;
    layoutOptions.allowDynamicWeights = options.allowDynamicWeights;
    layoutOptions.rewrites = options.rewriteLayout ? layout::Rewrites::Any : layout::Rewrites::Free;
    layoutOptions.offerRewrites = true;
    layoutOptions.findFixes = options.advise;
    layoutOptions.rewriteFirst = options.rewriteFirst;
    const bool takesParts = areOwn(info) && options.streaming.inputs.empty() && !result.steps;
    numberInputs(main, takesParts);
    std::optional<CopyTrials> copies;
    if (repairs) {
      copies.emplace(options, geometry, modelInfo(), !result.steps);
      layoutOptions.tryCopy = [&](mlir::FunctionOpInterface copy,
                                  const layout::DataDimensionOptions &changed) {
        return copies->run(copy, changed);
      };
      layoutOptions.tryFlags = [&](RepairFlags flags) { return repairs->tryFlags(flags); };
    }
    nameTensors();
    pinTensors(main, layoutOptions);
    const layout::DataDimensions found = layout::layOut(main, layoutOptions);
    for (const layout::LayoutRewrite &rewrite : found.rewrites)
      if (!rewrite.change.text.empty())
        result.rewrites.push_back({rewrite.change, rewrite.cost == 0});
    result.dynamicProducts = found.dynamic;
    for (Problem problem : found.problems) {
      if (problem.isFor<Refused>())
        problem.reason = NoLayout();
      problems.push_back(std::move(problem));
    }
    result.stopped = (options.limits && found.cost > options.limits->layoutCost) ||
                     (options.rewriteFirst && found.rewrites.empty());
    if (!found.problems.empty() || result.stopped)
      return false;
    listTensors(found);
    layout::annotate(main, found);
    for (const mlir::BlockArgument argument : main.getArguments())
      if (const auto dim = ir::dataDim(argument))
        result.inputs[argument.getArgNumber()].dataDim = static_cast<uint32_t>(*dim);
    std::vector<std::string> without = options.withoutRewrites;
    if (!options.splitChoices)
      without.emplace_back(kSplitChoices);
    if (!rewrite(module, geometry, without))
      return false;
    result.hasSplitChoices = main->removeAttr(ir::kChoicesSplitAttr) != nullptr;
    if (takesParts) {
      note(takeParts(main, info));
      result.arrays = info.arrays;
      result.made = info.inputs;
    }
    return true;
  }

  void listTensors(const layout::DataDimensions &found) {
    for (const frontend::GraphTensor &one : info.tensors) {
      TensorLayout tensor{one.name, one.shape, std::nullopt, {}};
      const auto other = found.replaced.find(one.value);
      const auto entry = found.dims.find(other == found.replaced.end() ? one.value : other->second);
      if (entry != found.dims.end()) {
        tensor.dataDim = entry->second.dim;
        tensor.why = entry->second.why;
      }
      result.tensors.push_back(std::move(tensor));
    }
  }
};

} // namespace

FrontForms runFront(const CompileOptions &options, ImportOnce &imported,
                    const format::Geometry &geometry, Compilation &made, Repairs *repairs) {
  Front front(options, imported, geometry, made, repairs);
  FrontForms found = front.run();
  if (found.forms.empty() && made.result.text.empty())
    front.explainFailure();
  return found;
}

} // namespace sluice::pipeline
