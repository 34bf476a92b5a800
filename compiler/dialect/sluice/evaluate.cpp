// The reference interface: each operation names its golden function.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "compiler/reference/ops.h"
#include "compiler/reference/scalar.h"

using namespace mlir;

namespace sluice::ir {

using reference::Tensor;
using Operands = llvm::ArrayRef<const Tensor *>;

static reference::Shape plain(llvm::ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

Tensor MapOp::evaluate(Operands operands) {
  const reference::ScalarProgram body(getBody());
  return reference::map({operands.begin(), operands.end()},
                        [&](const std::vector<double> &inputs) { return body(inputs); });
}

Tensor ReduceOp::evaluate(Operands operands) {
  // The enumerators have the same values; see the static_assert.
  static_assert(static_cast<int>(reference::Monoid::ArgMax) == static_cast<int>(Monoid::ArgMax));
  return reference::reduce(*operands[0], static_cast<reference::Monoid>(getMonoid()),
                           plain(getAxes()), getKeepdims());
}

Tensor MatmulOp::evaluate(Operands operands) {
  return reference::matmul(*operands[0], *operands[1]);
}

Tensor ContractOp::evaluate(Operands operands) {
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  std::string why;
  const auto axes = contractAxes(maps, operands[0]->shape, operands[1]->shape, why);
  auto loops = [](const ContractionAxes::OfTensor &tensor) {
    reference::Shape result;
    for (const std::optional<unsigned> loop : tensor)
      result.push_back(*loop);
    return result;
  };
  return reference::contract(*operands[0], loops(axes->lhs), *operands[1], loops(axes->rhs),
                             loops(axes->result), plain(axes->extents));
}

Tensor TransposeOp::evaluate(Operands operands) {
  return reference::transpose(*operands[0], plain(getPermutation()));
}

Tensor ReverseOp::evaluate(Operands operands) {
  return reference::reverse(*operands[0], plain(getAxes()));
}

Tensor SliceOp::evaluate(Operands operands) {
  return reference::slice(*operands[0], plain(getStarts()), plain(getSizes()), plain(getSteps()));
}

Tensor ReshapeOp::evaluate(Operands operands) {
  return reference::reshape(*operands[0], plain(shapeOf(getResult())));
}

Tensor UnsqueezeOp::evaluate(Operands operands) {
  return reference::reshape(*operands[0], plain(shapeOf(getResult())));
}

Tensor SqueezeOp::evaluate(Operands operands) {
  return reference::reshape(*operands[0], plain(shapeOf(getResult())));
}

Tensor BroadcastOp::evaluate(Operands operands) {
  return reference::broadcast(*operands[0], plain(shapeOf(getResult())));
}

Tensor RelayoutOp::evaluate(Operands operands) { return *operands[0]; }

Tensor ConcatOp::evaluate(Operands operands) {
  return reference::concat({operands.begin(), operands.end()}, static_cast<int64_t>(getAxis()));
}

Tensor WindowOp::evaluate(Operands operands) {
  return reference::window(*operands[0], window(), getValue().convertToDouble());
}

Tensor PadOp::evaluate(Operands operands) {
  return reference::pad(*operands[0], plain(getLow()), plain(getHigh()),
                        getValue().convertToDouble());
}

Tensor StateOp::evaluate(Operands) {
  return getInitial() ? toTensor(*getInitial()) : Tensor(plain(shapeOf(getResult())));
}

Tensor KeepOp::evaluate(Operands operands) { return *operands[0]; }

} // namespace sluice::ir
