#include "compiler/conversion/bodies/cut.h"

#include "compiler/dialect/sluice/selection.h"

using namespace mlir;

namespace sluice::bodies {

llvm::SmallVector<int64_t, 2> windowAxes(Operation *op) {
  auto view = llvm::dyn_cast<ir::ViewInterface>(op);
  return view ? view.windowAxes() : llvm::SmallVector<int64_t, 2>();
}

std::optional<Needs> readsOf(Operation *op, const Cut &cut) {
  if (auto view = llvm::dyn_cast<ir::ViewInterface>(op))
    return space::readsOf(view.pieces(), cut, view.windowAxes());
  auto computed = llvm::dyn_cast<ir::IndexSpaceInterface>(op);
  return computed ? space::readsOf(computed.indexSpace(), cut) : std::nullopt;
}

std::optional<Cut> tileFrom(Operation *op, unsigned operand, const Cut &cut) {
  if (auto view = llvm::dyn_cast<ir::ViewInterface>(op))
    return space::tileFrom(view.pieces(), operand, cut, view.windowAxes());
  auto computed = llvm::dyn_cast<ir::IndexSpaceInterface>(op);
  return computed ? space::tileFrom(computed.indexSpace(), operand, cut) : std::nullopt;
}

Operation *makeTile(Operation *op, OpBuilder &builder, ValueRange operands, RankedTensorType type,
                    const Cut &cut, std::optional<int64_t> missing) {
  if (auto view = llvm::dyn_cast<ir::ViewInterface>(op)) {
    const auto shapes = llvm::map_to_vector(
        operands, [](Value operand) -> space::ExtentsRef { return ir::shapeOf(operand); });
    return builder.create<ir::ViewOp>(op->getLoc(), type, operands,
                                      space::tileOf(view.pieces(), cut, shapes, missing));
  }
  return ir::cloneWith(op, builder, operands, type);
}

} // namespace sluice::bodies
