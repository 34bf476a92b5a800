#include "compiler/dialect/sluice/tensors.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "compiler/dialect/sluice/attributes.h"

using namespace mlir;

namespace sluice::ir {

bool isSluiceTensor(Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && (tensor.getElementType().isF32() || tensor.getElementType().isBF16()) &&
         llvm::all_of(tensor.getShape(), [](int64_t extent) { return extent >= 1; }) &&
         (!tensor.getEncoding() || llvm::isa<DimAttr>(tensor.getEncoding()));
}

static constexpr llvm::StringLiteral kPinned = "sluice.pinned";

void pin(Value value) {
  const auto mark = UnitAttr::get(value.getContext());
  if (Operation *op = value.getDefiningOp())
    op->setAttr(kPinned, mark);
  else if (const auto argument = llvm::cast<BlockArgument>(value);
           auto function = llvm::dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    function.setArgAttr(argument.getArgNumber(), kPinned, mark);
}

bool isPinned(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->hasAttr(kPinned);
  const auto argument = llvm::cast<BlockArgument>(value);
  auto function = llvm::dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && function.getArgAttr(argument.getArgNumber(), kPinned);
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
