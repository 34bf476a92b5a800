#include "compiler/dialect/sluice/interpret.h"

#include <deque>

#include "compiler/dialect/sluice/evaluate.h"
#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::ir {

bool isComputable(Operation *op) {
  return llvm::isa<ReferenceInterface, ConstantOp>(op) && isMemoryEffectFree(op);
}

Tensors resultsOf(Operation *op, const Values &values) {
  if (auto constant = llvm::dyn_cast<ConstantOp>(op))
    return one(toTensor(constant.getValue()));
  const auto operands =
      llvm::map_to_vector(readValues(op), [&](Value value) { return values.at(value); });
  return llvm::cast<ReferenceInterface>(op).evaluate(operands);
}

Tensors interpret(Block &block, Values values, llvm::function_ref<void(Tensor &)> made) {
  std::deque<Tensor> computed; // stay where they are
  for (Operation &op : block.without_terminator()) {
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), resultsOf(&op, values))) {
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
