#include "compiler/dialect/sluice/dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/dialect/sluice/dialect.cpp.inc"
#include "compiler/dialect/sluice/enums.cpp.inc"
#include "compiler/dialect/sluice/interfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/sluice/attributes.cpp.inc"

namespace sluice::ir {

void SluiceDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/sluice/ops.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/sluice/attributes.cpp.inc"
      >();
}

Operation *SluiceDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                              Location loc) {
  auto elements = llvm::dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, elements);
}

LogicalResult DimAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                      function_ref<InFlightDiagnostic()> emitError) const {
  // Rank 0 is carried as [1].
  const auto rank = std::max<int64_t>(static_cast<int64_t>(shape.size()), 1);
  if (getAxis() >= 0 && getAxis() < rank)
    return success();
  return emitError() << "data dimension " << getAxis() << " is outside a tensor of rank "
                     << shape.size();
}

bool isSluiceTensor(Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && (tensor.getElementType().isF32() || tensor.getElementType().isBF16()) &&
         llvm::all_of(tensor.getShape(), [](int64_t extent) { return extent >= 1; }) &&
         (!tensor.getEncoding() || llvm::isa<DimAttr>(tensor.getEncoding()));
}

std::optional<int64_t> dataDim(Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  auto dim = tensor ? llvm::dyn_cast_if_present<DimAttr>(tensor.getEncoding()) : DimAttr();
  return dim ? std::optional<int64_t>(dim.getAxis()) : std::nullopt;
}

llvm::SmallVector<int64_t, 4> carriedShape(Value value) {
  llvm::SmallVector<int64_t, 4> shape(shapeOf(value));
  if (shape.empty())
    shape.push_back(1);
  return shape;
}

LayoutQuery layoutQuery(Operation *op, llvm::function_ref<bool(Value)> constant) {
  LayoutQuery query;
  for (Value operand : op->getOperands()) {
    query.operands.push_back(carriedShape(operand));
    query.constant.push_back(constant(operand));
  }
  query.result = carriedShape(op->getResult(0));
  return query;
}

reference::Tensor toTensor(ElementsAttr elements) {
  auto shape = elements.getShapedType().getShape();
  reference::Tensor tensor(reference::Shape(shape.begin(), shape.end()));
  if (auto values = elements.tryGetValues<float>()) {
    llvm::copy(*values, tensor.values.begin());
  } else {
    auto reals = llvm::cast<DenseElementsAttr>(elements).getValues<APFloat>();
    llvm::transform(reals, tensor.values.begin(),
                    [](const APFloat &value) { return value.convertToDouble(); });
  }
  return tensor;
}

DenseElementsAttr toElements(const reference::Tensor &tensor, MLIRContext *context) {
  auto type = RankedTensorType::get(tensor.shape, Float32Type::get(context));
  llvm::SmallVector<float> values;
  values.reserve(tensor.values.size());
  for (double value : tensor.values)
    values.push_back(static_cast<float>(value));
  return DenseElementsAttr::get(type, llvm::ArrayRef<float>(values));
}

} // namespace sluice::ir
