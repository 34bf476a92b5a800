#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/operations.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "compiler/transforms/passes.h.inc"

namespace {

/// Removes an operation and, as they become unused, the constants it read.
void erase(Operation *op) {
  llvm::SmallSetVector<Operation *, 4> constants;
  for (Value operand : op->getOperands())
    constants.insert(operand.getDefiningOp());
  op->erase();
  for (Operation *constant : constants)
    if (constant->use_empty())
      constant->erase();
}

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getFunctionBody().front())) {
      auto reference = llvm::dyn_cast<ReferenceInterface>(op);
      if (!reference || !isMemoryEffectFree(&op) ||
          !llvm::all_of(op.getOperands(), [](Value operand) {
            return operand.getDefiningOp<ConstantOp>() != nullptr;
          }))
        continue;
      llvm::SmallVector<reference::Tensor> tensors;
      for (Value operand : op.getOperands())
        tensors.push_back(toTensor(operand.getDefiningOp<ConstantOp>().getValue()));
      llvm::SmallVector<const reference::Tensor *> operands;
      for (const reference::Tensor &tensor : tensors)
        operands.push_back(&tensor);
      OpBuilder builder(&op);
      auto constant = builder.create<ConstantOp>(
          op.getLoc(), toElements(reference.evaluate(operands), &getContext()));
      op.getResult(0).replaceAllUsesWith(constant);
      erase(&op);
    }
  }
};

} // namespace
} // namespace sluice::ir
