#include "compiler/streaming/known.h"

#include "compiler/dialect/sluice/folding.h"

using namespace mlir;

namespace sluice::streaming {

std::optional<reference::Tensor> known(Value value) { return ir::constantValue(value); }

reference::Tensor filled(llvm::ArrayRef<int64_t> shape, double value) {
  reference::Tensor tensor(reference::Shape(shape.begin(), shape.end()));
  std::ranges::fill(tensor.values, value);
  return tensor;
}

} // namespace sluice::streaming
