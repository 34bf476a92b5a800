#include "compiler/dialect/sluice/interfaces.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/tensors.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

#include "compiler/dialect/sluice/interfaces.cpp.inc"

namespace sluice::ir {

/// LayoutQuery::summed of a value.
static llvm::SmallVector<SummedAxis, 1>
summedAxes(Value value, llvm::function_ref<bool(Value)> constant, int64_t lanes) {
  llvm::SmallVector<SummedAxis, 1> common;
  bool first = true;
  for (OpOperand &use : value.getUses()) {
    auto rules = llvm::dyn_cast<LayoutInterface>(use.getOwner());
    llvm::SmallVector<SummedAxis> axes;
    if (rules)
      rules.summedAxes(use.getOperandNumber(), lanes, axes);
    // Only what sums has its operands counted: a concatenation may have thousands.
    if (!axes.empty() && llvm::count_if(use.getOwner()->getOperands(), constant) != 1)
      axes.clear();
    if (first)
      for (const SummedAxis &one : axes)
        common.push_back({one.axis, 0});
    first = false;
    llvm::erase_if(common, [&](SummedAxis &known) {
      const auto *same =
          llvm::find_if(axes, [&](const SummedAxis &one) { return one.axis == known.axis; });
      if (same == axes.end())
        return true;
      known.products += same->products;
      return false;
    });
    if (common.empty())
      break;
  }
  return common;
}

Operation *cloneWith(Operation *op, OpBuilder &builder, ValueRange operands, Type type) {
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  forgetModelTensor(copy);
  return copy;
}

space::IndexSpace spaceOfView(Operation *view) {
  return space::spaceOf(llvm::cast<ViewInterface>(view).pieces(), view->getContext());
}

llvm::SmallVector<Value> readValues(Operation *op) {
  llvm::SmallVector<Value> values(op->getOperands());
  if (op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    return values;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  values.append(captured.begin(), captured.end());
  return values;
}

LayoutQuery layoutQuery(Operation *op, llvm::function_ref<bool(Value)> constant, int64_t lanes) {
  LayoutQuery query;
  query.lanes = lanes;
  query.summed = summedAxes(op->getResult(0), constant, lanes);
  for (Value operand : op->getOperands()) {
    query.operands.push_back(carriedShape(operand));
    query.constant.push_back(constant(operand));
  }
  query.result = carriedShape(op->getResult(0));
  return query;
}

} // namespace sluice::ir
