#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/erase_unread.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

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
      auto reference = llvm::dyn_cast<ReferenceInterface>(op);
      if (!reference || !isMemoryEffectFree(&op))
        continue;
      const llvm::SmallVector<Value> values = readValues(&op);
      if (!llvm::all_of(values,
                        [](Value value) { return value.getDefiningOp<ConstantOp>() != nullptr; }))
        continue;
      llvm::SmallVector<reference::Tensor> tensors;
      for (Value value : values)
        tensors.push_back(toTensor(value.getDefiningOp<ConstantOp>().getValue()));
      llvm::SmallVector<const reference::Tensor *> operands;
      for (const reference::Tensor &tensor : tensors)
        operands.push_back(&tensor);
      OpBuilder builder(&op);
      for (auto [result, tensor] : llvm::zip_equal(op.getResults(), reference.evaluate(operands)))
        result.replaceAllUsesWith(
            builder.create<ConstantOp>(op.getLoc(), toElements(tensor, &getContext())).getResult());
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
