#include "compiler/dialect/sluice/model_tensor.h"

#include "compiler/dialect/sluice/tensors.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::ir {

static constexpr llvm::StringLiteral kName = "sluice.tensor", kShape = "sluice.tensor_shape";

std::string modelTensor(Value value) {
  Operation *op = value.getDefiningOp();
  const auto name = op ? op->getAttrOfType<StringAttr>(kName) : StringAttr();
  return name ? name.str() : "";
}

llvm::ArrayRef<int64_t> modelShape(Value value) {
  Operation *op = value.getDefiningOp();
  const auto shape = op ? op->getAttrOfType<DenseI64ArrayAttr>(kShape) : DenseI64ArrayAttr();
  return shape ? shape.asArrayRef() : shapeOf(value);
}

void setModelTensor(Value value, llvm::StringRef name,
                    std::optional<llvm::ArrayRef<int64_t>> shape) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || name.empty() || op->hasAttr(kName))
    return;
  op->setAttr(kName, StringAttr::get(op->getContext(), name));
  if (shape && *shape != shapeOf(value))
    op->setAttr(kShape, DenseI64ArrayAttr::get(op->getContext(), *shape));
}

void forgetModelTensor(Operation *op) {
  op->removeAttr(kName);
  op->removeAttr(kShape);
}

void keepModelTensor(Value value, Value by) {
  // Scalars of maps are values too, and have neither.
  if (const std::string name = modelTensor(value); !name.empty())
    setModelTensor(by, name, modelShape(value));
}

void replaceOp(Operation *op, Value by) {
  keepModelTensor(op->getResult(0), by);
  op->getResult(0).replaceAllUsesWith(by);
  op->erase();
}

void KeepModelTensors::notifyOperationReplaced(Operation *op, ValueRange by) {
  for (auto [value, other] : llvm::zip_equal(op->getResults(), by))
    keepModelTensor(value, other);
}

} // namespace sluice::ir
