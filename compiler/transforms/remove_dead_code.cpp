#include "compiler/transforms/passes.h"

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_REMOVEDEADCODE
#include "compiler/transforms/passes.h.inc"

namespace {

struct RemoveDeadCode : impl::RemoveDeadCodeBase<RemoveDeadCode> {
  void runOnOperation() override {
    // Backwards, so that what only dead operations use is dead too.
    for (Region &region : getOperation()->getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
          if (isOpTriviallyDead(&op))
            op.erase();
  }
};

} // namespace
} // namespace sluice::ir
