#include "compiler/conversion/rows/constant_values.h"

#include "compiler/dialect/sluice/folding.h"
#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::rows {

llvm::ArrayRef<float> ConstantValues::of(Value value) {
  if (auto constant = value.getDefiningOp<ir::ConstantOp>())
    if (auto dense = llvm::dyn_cast<DenseElementsAttr>(constant.getValue());
        dense && dense.getElementType().isF32()) {
      const llvm::ArrayRef<char> data = dense.getRawData();
      return {reinterpret_cast<const float *>(data.data()), data.size() / sizeof(float)};
    }
  const auto [known, added] = copies.try_emplace(value);
  if (added && ir::isConstant(value))
    if (const auto tensor = ir::constantValue(value))
      known->second.assign(tensor->values.begin(), tensor->values.end());
  return known->second;
}

} // namespace sluice::rows
