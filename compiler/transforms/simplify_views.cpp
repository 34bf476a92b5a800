#include "compiler/transforms/passes.h"

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
    addSlicePatterns(patterns);
    addMergePatterns(patterns);
    const FrozenRewritePatternSet chosen(std::move(patterns), {}, only);
    GreedyRewriteConfig config;
    config.maxIterations = GreedyRewriteConfig::kNoLimit; // they end, see the pass's description
    if (failed(applyPatternsAndFoldGreedily(getOperation(), chosen, config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace sluice::ir
