#include "compiler/pipeline/rewrites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/support/suggestion.h"
#include "compiler/transforms/passes.h"

namespace sluice::pipeline {
namespace {

/// Rewrites that are a pass each; the others are patterns of `sluice-simplify-views`.
constexpr const char *kSlicesBeforeProducts = "slices-before-products",
                     *kMapsBeforeViews = "maps-before-views", *kHoistScalars = "hoist-scalars",
                     *kMergeAxes = "merge-axes", *kChooseInPairs = "choose-in-pairs",
                     *kSplitFeatures = "split-features", *kSelectInputs = "select-inputs",
                     *kArgMaxBeforeMaps = "argmax-before-maps",
                     *kSoftmaxInParts = "softmax-in-parts";

void addRewrites(mlir::OpPassManager &perFunction, const format::Geometry &geometry,
                 const std::vector<std::string> &without) {
  const int64_t lanes = geometry.lanes;
  const auto wanted = [&](const char *rewrite) { return !llvm::is_contained(without, rewrite); };
  ir::ExpandReductionsOptions reductions;
  reductions.lanes = geometry.lanes;
  reductions.cores = geometry.cores;
  perFunction.addPass(ir::createExpandReductions(reductions));
  perFunction.addPass(ir::createCentreVariances());
  if (wanted(kArgMaxBeforeMaps))
    perFunction.addPass(ir::createArgMaxBeforeMaps());
  if (wanted(kSoftmaxInParts)) {
    ir::SoftmaxInPartsOptions softmax;
    softmax.lanes = geometry.lanes;
    softmax.cores = geometry.cores;
    perFunction.addPass(ir::createSoftmaxInParts(softmax));
  }
  if (wanted(kChooseInPairs))
    perFunction.addPass(ir::createChooseInPairs());
  ir::SimplifyViewsOptions views;
  views.without = without;
  perFunction.addPass(ir::createSimplifyViews(views));
  perFunction.addPass(ir::createFoldConstants());
  if (wanted(kSlicesBeforeProducts))
    perFunction.addPass(ir::createSlicesBeforeProducts());
  if (wanted(kSplitFeatures)) {
    ir::SplitFeaturesOptions features;
    features.lanes = lanes;
    perFunction.addPass(ir::createSplitFeatures(features));
  }
  perFunction.addPass(ir::createFuseMaps());
  if (wanted(kMapsBeforeViews))
    perFunction.addPass(ir::createMapsBeforeViews());
  perFunction.addPass(ir::createFoldConstants());
  perFunction.addPass(ir::createFuseMaps());
  if (wanted(kSplitChoices)) {
    ir::SplitChoicesOptions choices;
    choices.lanes = lanes;
    choices.without = without;
    choices.slicesBeforeProducts = wanted(kSlicesBeforeProducts);
    perFunction.addPass(ir::createSplitChoices(choices));
  }
  if (wanted(kHoistScalars))
    perFunction.addPass(ir::createHoistScalars());
  perFunction.addPass(ir::createRemoveDeadCode());
  if (wanted(kSelectInputs)) {
    ir::SelectInputsOptions inputs;
    inputs.lanes = lanes;
    perFunction.addPass(ir::createSelectInputs(inputs));
  }
  if (wanted(kMergeAxes)) {
    ir::MergeAxesOptions axes;
    axes.lanes = lanes;
    perFunction.addPass(ir::createMergeAxes(axes));
  }
  perFunction.addPass(ir::createFuseMaps());
  perFunction.addPass(ir::createFoldConstants());
  perFunction.addPass(ir::createRemoveDeadCode());
}

} // namespace

bool rewrite(mlir::ModuleOp module, const format::Geometry &geometry,
             const std::vector<std::string> &without) {
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false);
  addRewrites(passes.nest<mlir::func::FuncOp>(), geometry, without);
  return mlir::succeeded(passes.run(module)) && mlir::succeeded(mlir::verify(module));
}

Problems unknownRewrites(mlir::MLIRContext &context, const std::vector<std::string> &without) {
  if (without.empty())
    return {};
  context.loadDialect<ir::SluiceDialect>();
  std::vector<std::string> known = ir::viewRewrites(context);
  known.insert(known.end(),
               {kSlicesBeforeProducts, kMapsBeforeViews, kHoistScalars, kMergeAxes, kChooseInPairs,
                kSplitFeatures, kSelectInputs, kArgMaxBeforeMaps, kSoftmaxInParts, kSplitChoices});
  Problems problems;
  for (const std::string &one : without) {
    if (llvm::is_contained(known, one))
      continue;
    Problem problem;
    problem.code = "E0601";
    problem.reason = WrongOption();
    problem.message =
        fmt::format("--without-rewrite '{}' is unknown, allowed: {}", one, fmt::join(known, ", "));
    problem.fixes = suggestion(one, known);
    problems.push_back(std::move(problem));
  }
  return problems;
}

} // namespace sluice::pipeline
