#include "compiler/transforms/passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_REMOVEDEADCODE
#include "compiler/transforms/passes.h.inc"

namespace {

struct RemoveDeadCode : impl::RemoveDeadCodeBase<RemoveDeadCode> {
  void runOnOperation() override {
    for (mlir::Region &region : getOperation()->getRegions())
      removeFrom(region);
  }

  /// Every operation comes before those that read it, so one pass from the last to the first finds
  /// all that nothing reads.
  static void removeFrom(mlir::Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
        if (isOpTriviallyDead(&op)) {
          op.erase();
          continue;
        }
        for (mlir::Region &inner : op.getRegions())
          removeFrom(inner);
      }
  }
};

} // namespace
} // namespace sluice::ir
