#include "compiler/dialect/sluice/model_tensor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::ir {

static constexpr llvm::StringLiteral kName = "sluice.tensor";

std::string modelTensor(Value value) {
  Operation *op = value.getDefiningOp();
  const auto name = op ? op->getAttrOfType<StringAttr>(kName) : StringAttr();
  return name ? name.str() : "";
}

void setModelTensor(Value value, llvm::StringRef name) {
  Operation *op = value.getDefiningOp();
  if (op && op->getNumResults() == 1 && !name.empty() && !op->hasAttr(kName))
    op->setAttr(kName, StringAttr::get(op->getContext(), name));
}

void forgetModelTensor(Operation *op) { op->removeAttr(kName); }

void keepModelTensor(Value value, Value by) { setModelTensor(by, modelTensor(value)); }

void KeepModelTensors::notifyOperationReplaced(Operation *op, ValueRange by) {
  for (auto [value, other] : llvm::zip_equal(op->getResults(), by))
    keepModelTensor(value, other);
}

} // namespace sluice::ir
