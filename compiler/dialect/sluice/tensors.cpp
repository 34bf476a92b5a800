#include "compiler/dialect/sluice/tensors.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"

#include "compiler/dialect/sluice/attributes.h"

using namespace mlir;

namespace sluice::ir {

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
