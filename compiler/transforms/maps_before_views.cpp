#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_MAPSBEFOREVIEWS
#include "compiler/transforms/passes.h.inc"

namespace {

/// Whether the operation is a view that keeps every element in its lane, and that
/// only one operation reads.
bool isPlainView(Operation *op) {
  auto rearranges = llvm::dyn_cast_if_present<ViewInterface>(op);
  if (!rearranges || !rearranges.isRearrangement() || !op->getResult(0).hasOneUse())
    return false;
  const Value input = op->getOperand(0), result = op->getResult(0);
  const auto from = dataDim(input), to = dataDim(result);
  return from && to && carriedShape(input)[*from] == carriedShape(result)[*to];
}

struct MapsBeforeViews : impl::MapsBeforeViewsBase<MapsBeforeViews> {
  void runOnOperation() override {
    getOperation()->walk([](MapOp map) {
      while (Operation *view = viewBefore(map))
        map = exchange(map, view);
    });
  }

private:
  /// The view to move behind the map: all the map reads beside constants, and
  /// behind it, maybe after further views, another map.
  static Operation *viewBefore(MapOp map) {
    Operation *view = nullptr;
    for (Value operand : map.getInputs()) {
      Operation *op = operand.getDefiningOp();
      if (llvm::isa_and_nonnull<ConstantOp>(op))
        continue;
      if (!op || (view && view != op))
        return nullptr;
      view = op;
    }
    Operation *source = view;
    while (isPlainView(source))
      source = source->getOperand(0).getDefiningOp();
    const bool merges = llvm::isa_and_nonnull<MapOp>(source) && source->getResult(0).hasOneUse();
    return merges && source != view ? view : nullptr;
  }

  /// map(view(x)) becomes view(map(x)); the map that was made.
  static MapOp exchange(MapOp map, Operation *view) {
    OpBuilder builder(map);
    llvm::SmallVector<Value> inputs;
    for (Value operand : map.getInputs())
      inputs.push_back(operand.getDefiningOp() == view
                           ? view->getOperand(0)
                           : llvm::cast<ViewInterface>(view).undo(builder, operand));
    Operation *moved = cloneWith(map, builder, inputs, view->getOperand(0).getType());
    Operation *after = cloneWith(view, builder, moved->getResults(), map.getType());
    after->setLoc(builder.getFusedLoc({map.getLoc(), view->getLoc()}));
    replaceOp(map, after->getResult(0));
    view->erase();
    return llvm::cast<MapOp>(moved);
  }
};

} // namespace
} // namespace sluice::ir
