#include "compiler/streaming/known.h"

#include "compiler/dialect/sluice/operations.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::streaming {

std::optional<reference::Tensor> known(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = llvm::dyn_cast_if_present<ir::ConstantOp>(op))
    return ir::toTensor(constant.getValue());
  auto computed = llvm::dyn_cast_if_present<ir::ReferenceInterface>(op);
  if (!computed || !isMemoryEffectFree(op))
    return std::nullopt;
  std::vector<reference::Tensor> operands;
  for (const Value operand : ir::readValues(op)) {
    auto one = known(operand);
    if (!one)
      return std::nullopt;
    operands.push_back(std::move(*one));
  }
  const auto pointers =
      llvm::map_to_vector(operands, [](const reference::Tensor &one) { return &one; });
  return computed.evaluate(pointers)[llvm::cast<OpResult>(value).getResultNumber()];
}

reference::Tensor filled(llvm::ArrayRef<int64_t> shape, double value) {
  reference::Tensor tensor(reference::Shape(shape.begin(), shape.end()));
  std::ranges::fill(tensor.values, value);
  return tensor;
}

} // namespace sluice::streaming
