#include "compiler/transforms/passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_REMOVEDEADCODE
#include "compiler/transforms/passes.h.inc"

namespace {

struct RemoveDeadCode : impl::RemoveDeadCodeBase<RemoveDeadCode> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};

} // namespace
} // namespace sluice::ir
