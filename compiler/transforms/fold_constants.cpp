#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/folding.h"
#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/erase_unread.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "compiler/transforms/passes.h.inc"

namespace {

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getFunctionBody().front())) {
      const auto isConstant = [](Value value) {
        return value.getDefiningOp<ConstantOp>() != nullptr;
      };
      if (llvm::isa<ConstantOp>(op) || !isComputable(&op) ||
          !llvm::all_of(readValues(&op), isConstant))
        continue;
      OpBuilder builder(&op);
      for (auto [result, tensor] : llvm::zip_equal(op.getResults(), *constantResults(&op)))
        result.replaceAllUsesWith(builder.create<ConstantOp>(op.getLoc(), tensor).getResult());
      eraseUnread(&op);
    }
    // A result that has become a constant has no data dimension.
    func::FuncOp function = getOperation();
    function.setType(
        FunctionType::get(&getContext(), function.getArgumentTypes(),
                          function.getFunctionBody().front().getTerminator()->getOperandTypes()));
  }
};

} // namespace
} // namespace sluice::ir
