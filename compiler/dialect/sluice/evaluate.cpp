// The reference interface of operations whose golden function needs more than their attributes; the
// others name it in ops.td.
#include "compiler/dialect/sluice/evaluate.h"
#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "compiler/reference/ops.h"
#include "compiler/reference/scalar.h"

using namespace mlir;

namespace sluice::ir {

Tensors MapOp::evaluate(Operands operands) {
  const reference::ScalarProgram body(getBody());
  return one(reference::map({operands.begin(), operands.end()},
                            [&](const std::vector<double> &inputs) { return body(inputs); }));
}

Tensors ContractOp::evaluate(Operands operands) {
  std::string why;
  const auto axes = contractAxes(maps(), operands[0]->shape, operands[1]->shape, why);
  auto loops = [](const ContractionAxes::OfTensor &tensor) {
    reference::Shape result;
    for (const std::optional<unsigned> loop : tensor)
      result.push_back(*loop);
    return result;
  };
  return one(reference::contract(*operands[0], loops(axes->lhs), *operands[1], loops(axes->rhs),
                                 loops(axes->result), plain(axes->extents)));
}

Tensors LoopOp::evaluate(Operands operands) {
  std::vector<const Tensor *> initial, sequences;
  Values around;
  for (auto [i, tensor] : llvm::enumerate(operands))
    if (i < getInitial().size())
      initial.push_back(tensor);
    else if (i < getNumOperands())
      sequences.push_back(tensor);
  for (auto [value, tensor] : llvm::zip_equal(readValues(*this), operands))
    around[value] = tensor;
  const auto slices = this->slices(), stacks = this->stacks();
  return reference::loop(
      static_cast<int64_t>(getTrips()), initial, sequences, {slices.begin(), slices.end()},
      {stacks.begin(), stacks.end()}, [&](const std::vector<const Tensor *> &arguments) {
        Values values = around;
        for (auto [argument, tensor] : llvm::zip_equal(getBody().getArguments(), arguments))
          values[argument] = tensor;
        return interpret(getBody().front(), std::move(values));
      });
}

Tensors StateOp::evaluate(Operands) {
  return one(getInitial() ? toTensor(*getInitial()) : Tensor(plain(shapeOf(getResult()))));
}

Tensors KeepOp::evaluate(Operands operands) { return one(*operands[0]); }

} // namespace sluice::ir
