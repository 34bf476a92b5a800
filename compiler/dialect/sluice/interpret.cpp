#include "compiler/dialect/sluice/interpret.h"

#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::ir {

std::vector<reference::Tensor> interpret(FunctionOpInterface function,
                                         std::vector<reference::Tensor> arguments) {
  Block &block = function.getFunctionBody().front();
  llvm::DenseMap<Value, reference::Tensor> tensors;
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    tensors[argument] = std::move(tensor);
  for (Operation &op : block.without_terminator()) {
    reference::Tensor result;
    if (auto constant = llvm::dyn_cast<ConstantOp>(op)) {
      result = toTensor(constant.getValue());
    } else {
      llvm::SmallVector<const reference::Tensor *> operands;
      for (Value operand : op.getOperands())
        operands.push_back(&tensors.find(operand)->second);
      result = llvm::cast<ReferenceInterface>(op).evaluate(operands);
    }
    tensors[op.getResult(0)] = std::move(result);
  }
  std::vector<reference::Tensor> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(tensors.find(value)->second);
  return results;
}

} // namespace sluice::ir
