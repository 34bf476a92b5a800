#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/transforms/view_patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SIMPLIFYVIEWS
#include "compiler/transforms/passes.h.inc"

namespace {

struct SimplifyViews : impl::SimplifyViewsBase<SimplifyViews> {
  using SimplifyViewsBase::SimplifyViewsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    RewritePatternSet patterns(&getContext());
    addViewPatterns(patterns);
    const FrozenRewritePatternSet chosen(std::move(patterns), without, only);
    KeepModelTensors names;
    GreedyRewriteConfig config;
    config.listener = &names;
    config.maxIterations = GreedyRewriteConfig::kNoLimit; // they end, see the pass's description
    if (failed(applyPatternsAndFoldGreedily(getOperation(), chosen, config)))
      signalPassFailure();
  }
};

} // namespace

std::vector<std::string> viewRewrites(MLIRContext &context) {
  std::vector<std::string> labels;
  RewritePatternSet patterns(&context);
  addViewPatterns(patterns);
  for (const auto &pattern : patterns.getNativePatterns())
    for (const StringRef label : pattern->getDebugLabels())
      if (!llvm::is_contained(labels, label))
        labels.push_back(label.str());
  return labels;
}

} // namespace sluice::ir
