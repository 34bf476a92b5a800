// The reference interface: each operation names its golden function.
#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/monoids.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "compiler/reference/ops.h"
#include "compiler/reference/scalar.h"

using namespace mlir;

namespace sluice::ir {

using reference::Tensor;
using reference::Tensors;
using Operands = llvm::ArrayRef<const Tensor *>;

static reference::Shape plain(llvm::ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

/// The results of an operation that has one.
static Tensors one(Tensor result) {
  Tensors results;
  results.push_back(std::move(result));
  return results;
}

Tensors MapOp::evaluate(Operands operands) {
  const reference::ScalarProgram body(getBody());
  return one(reference::map({operands.begin(), operands.end()},
                            [&](const std::vector<double> &inputs) { return body(inputs); }));
}

Tensors ReduceOp::evaluate(Operands operands) {
  return one(
      reference::reduce(*operands[0], definedBy(getMonoid()), plain(getAxes()), getKeepdims()));
}

Tensors MatmulOp::evaluate(Operands operands) {
  return one(reference::matmul(*operands[0], *operands[1]));
}

Tensors ContractOp::evaluate(Operands operands) {
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  std::string why;
  const auto axes = contractAxes(maps, operands[0]->shape, operands[1]->shape, why);
  auto loops = [](const ContractionAxes::OfTensor &tensor) {
    reference::Shape result;
    for (const std::optional<unsigned> loop : tensor)
      result.push_back(*loop);
    return result;
  };
  return one(reference::contract(*operands[0], loops(axes->lhs), *operands[1], loops(axes->rhs),
                                 loops(axes->result), plain(axes->extents)));
}

Tensors TransposeOp::evaluate(Operands operands) {
  return one(reference::transpose(*operands[0], plain(getPermutation())));
}

Tensors ReverseOp::evaluate(Operands operands) {
  return one(reference::reverse(*operands[0], plain(getAxes())));
}

Tensors SliceOp::evaluate(Operands operands) {
  return one(
      reference::slice(*operands[0], plain(getStarts()), plain(getSizes()), plain(getSteps())));
}

Tensors ReshapeOp::evaluate(Operands operands) {
  return one(reference::reshape(*operands[0], plain(shapeOf(getResult()))));
}

Tensors UnsqueezeOp::evaluate(Operands operands) {
  return one(reference::reshape(*operands[0], plain(shapeOf(getResult()))));
}

Tensors SqueezeOp::evaluate(Operands operands) {
  return one(reference::reshape(*operands[0], plain(shapeOf(getResult()))));
}

Tensors BroadcastOp::evaluate(Operands operands) {
  return one(reference::broadcast(*operands[0], plain(shapeOf(getResult()))));
}

Tensors RelayoutOp::evaluate(Operands operands) { return one(*operands[0]); }

Tensors ConcatOp::evaluate(Operands operands) {
  return one(
      reference::concat({operands.begin(), operands.end()}, static_cast<int64_t>(getAxis())));
}

Tensors RotateOp::evaluate(Operands operands) {
  return one(reference::rotate(*operands[0], plain(getBy())));
}

Tensors TileOp::evaluate(Operands operands) {
  return one(reference::tile(*operands[0], plain(getCounts())));
}

Tensors RepeatOp::evaluate(Operands operands) {
  return one(reference::repeat(*operands[0], plain(getCounts())));
}

Tensors InterleaveOp::evaluate(Operands operands) {
  return one(
      reference::interleave({operands.begin(), operands.end()}, static_cast<int64_t>(getAxis())));
}

Tensors WindowOp::evaluate(Operands operands) {
  return one(reference::window(*operands[0], window(), getValue().convertToDouble()));
}

Tensors PadOp::evaluate(Operands operands) {
  return one(reference::pad(*operands[0], plain(getLow()), plain(getHigh()),
                            getValue().convertToDouble()));
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
