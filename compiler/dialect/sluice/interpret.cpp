#include "compiler/dialect/sluice/interpret.h"

#include <deque>

#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::ir {

using reference::Tensor;
using reference::Tensors;

Tensors interpret(Block &block, Values values, llvm::function_ref<void(Tensor &)> made) {
  std::deque<Tensor> computed; // stay where they are
  for (Operation &op : block.without_terminator()) {
    Tensors results;
    if (auto constant = llvm::dyn_cast<ConstantOp>(op)) {
      results.push_back(toTensor(constant.getValue()));
    } else {
      llvm::SmallVector<const Tensor *> operands;
      for (Value operand : readValues(&op))
        operands.push_back(values.at(operand));
      results = llvm::cast<ReferenceInterface>(op).evaluate(operands);
    }
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), results)) {
      values[value] = &computed.emplace_back(std::move(tensor));
      if (made)
        made(computed.back());
    }
  }
  Tensors results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(*values.at(value));
  return results;
}

Tensors interpret(FunctionOpInterface function, const Tensors &arguments,
                  llvm::function_ref<void(Tensor &)> made) {
  Block &block = function.getFunctionBody().front();
  Values values;
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = &tensor;
  return interpret(block, std::move(values), made);
}

} // namespace sluice::ir
