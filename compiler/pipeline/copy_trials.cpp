#include "compiler/pipeline/copy_trials.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "compiler/conversion/model/forms.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/layout/lay_out.h"
#include "compiler/pipeline/back.h"
#include "compiler/pipeline/rewrites.h"

namespace sluice::pipeline {

CompileOptions trialOptions(CompileOptions options) {
  options.stage = Stage::Program;
  options.measure = true;
  options.check.reset();
  options.calibration = nullptr;
  options.explain = options.spaces = false;
  options.limits = kTrialLimits;
  return options;
}

CopyTrials::CopyTrials(const CompileOptions &options, const format::Geometry &geometry,
                       rows::ModelInfo model, bool measured)
    : options(trialOptions(options)), geometry(geometry), model(std::move(model)),
      measured(measured) {}

std::optional<layout::Trial> CopyTrials::run(mlir::FunctionOpInterface copy,
                                             const layout::DataDimensionOptions &layoutOptions) {
  const layout::DataDimensions found = layout::layOut(copy, layoutOptions);
  if (!found.problems.empty())
    return layout::Trial();
  if (found.cost > left.layoutCost)
    return std::nullopt;
  left.layoutCost -= found.cost;
  layout::annotate(copy, found);
  auto module = llvm::cast<mlir::ModuleOp>(copy->getParentOp());
  if (!rewrite(module, geometry, options.withoutRewrites))
    return layout::Trial();
  conversion::ModelForms forms =
      conversion::formsOf(module, geometry, modelOf(copy), {.onlyLoops = options.onlyLoops});
  options.limits = left;
  Compilation made;
  made.result.program.geometry = geometry;
  made.problems = std::move(forms.problems);
  made.lacking = std::move(forms.lacking);
  const CompileResult &result = made.result;
  const bool compiled = !forms.forms.empty() && runBack(std::move(forms.forms), options, made);
  left.planningWork -= std::min(left.planningWork, result.planningWork);
  layout::Trial trial{.compiles = compiled, .cycles = std::nullopt, .rewrites = {}};
  if (compiled && measured && result.cycles)
    trial.cycles = result.cycles->spaced;
  return trial;
}

rows::ModelInfo CopyTrials::modelOf(mlir::FunctionOpInterface copy) const {
  const auto setShape = [](auto &tensor, mlir::Value value) {
    const auto shape = ir::shapeOf(value);
    tensor.shape.assign(shape.begin(), shape.end());
  };
  rows::ModelInfo changed = model;
  changed.inputs.clear();
  for (mlir::BlockArgument argument : copy.getArguments()) {
    const std::string name = layout::tensorName(argument);
    const auto same = llvm::find_if(model.inputs, [&](const format::HostTensor &one) {
      return !name.empty() && one.name == name;
    });
    format::HostTensor tensor = same == model.inputs.end() ? format::HostTensor() : *same;
    setShape(tensor, argument);
    changed.inputs.push_back(std::move(tensor));
  }
  for (auto [tensor, value] : llvm::zip_equal(
           changed.outputs, copy.getFunctionBody().front().getTerminator()->getOperands()))
    setShape(tensor, value);
  return changed;
}

} // namespace sluice::pipeline
