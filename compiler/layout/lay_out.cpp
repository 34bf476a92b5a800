#include "compiler/layout/lay_out.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::layout {
namespace {

/// The type without a data dimension.
RankedTensorType plain(Type type) {
  const auto tensor = llvm::cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

Value relayout(OpBuilder &builder, Location location, Value value, Type type, bool dynamic) {
  return builder.create<ir::RelayoutOp>(location, type, value, dynamic);
}

/// Whether a relayout is cheaper with dynamic weights, if they are allowed.
bool isDynamic(Value value, const LayoutRewrite::Relayout &change, bool result,
               const DataDimensionOptions &options) {
  ir::LayoutQuery query;
  query.lanes = options.lanes;
  query.cores = options.cores;
  query.allowDynamicWeights = options.allowDynamicWeights && !options.rewriteFirst;
  return ir::relayoutCost(ir::carriedShape(value), result ? change.inside : change.outside,
                          result ? change.outside : change.inside, query)
      .dynamic;
}

/// Returns what stands for the result of the operation.
Value apply(const LayoutRewrite &rewrite, DataDimensionOptions &options) {
  Operation *op = rewrite.op;
  const unsigned operands = op->getNumOperands();
  OpBuilder builder(op);
  for (const auto &change : rewrite.relayouts)
    if (change.tensor < operands) {
      const Value operand = op->getOperand(change.tensor);
      op->setOperand(change.tensor,
                     relayout(builder, op->getLoc(), operand, plain(operand.getType()),
                              isDynamic(operand, change, false, options)));
    }
  Value result = op->getResult(0);
  const Type outside = result.getType();
  if (!rewrite.tuple.rewrite.empty()) {
    result.setType(plain(outside));
    Value other = llvm::cast<ir::LayoutInterface>(op).rewriteLayout(builder, rewrite.tuple);
    other.setType(llvm::cast<RankedTensorType>(outside));
    ir::keepModelTensor(result, other);
    result.replaceAllUsesWith(other);
    if (options.dynamicProducts.erase(op))
      options.dynamicProducts.insert(other.getDefiningOp());
    op->erase();
    result = other;
  }
  for (const auto &change : rewrite.relayouts)
    if (change.tensor == operands) {
      builder.setInsertionPointAfter(result.getDefiningOp());
      const Value moved = relayout(builder, result.getLoc(), result, outside,
                                   isDynamic(result, change, true, options));
      result.setType(plain(outside));
      ir::keepModelTensor(result, moved);
      result.replaceAllUsesExcept(moved, moved.getDefiningOp());
      return moved;
    }
  return result;
}

} // namespace

void annotate(FunctionOpInterface function, const DataDimensions &dimensions) {
  MLIRContext *context = function->getContext();
  for (const auto &[value, entry] : dimensions.dims) {
    Value tensor = value;
    const auto dim = ir::DimAttr::get(context, entry.dim, ir::carriedShape(tensor));
    tensor.setType(RankedTensorType::get(ir::shapeOf(tensor), BFloat16Type::get(context), dim));
  }
  Block &block = function.getFunctionBody().front();
  function.setType(FunctionType::get(context, block.getArgumentTypes(),
                                     block.getTerminator()->getOperandTypes()));
}

DataDimensions layOut(FunctionOpInterface function, DataDimensionOptions options) {
  DataDimensions found = inferDataDimensions(function, options);
  if (found.rewrites.empty())
    return found;
  options.dynamicProducts = found.dynamicProducts;
  llvm::DenseMap<Value, Value> replaced;
  for (const LayoutRewrite &rewrite : found.rewrites) {
    const Value before = rewrite.op->getResult(0);
    replaced[before] = apply(rewrite, options);
  }
  // Tensors have new neighbours of the same name.
  for (const auto &[name, before] : found.pinned) {
    const auto other = replaced.find(before);
    options.names[name] = other == replaced.end() ? before : other->second;
  }
  options.rewrites = Rewrites::None;
  DataDimensions again = inferDataDimensions(function, options);
  again.replaced = std::move(replaced);
  again.rewrites = std::move(found.rewrites);
  for (LayoutRewrite &rewrite : again.rewrites)
    rewrite.op = nullptr; // it may be gone
  return again;
}

} // namespace sluice::layout
