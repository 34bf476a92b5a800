#include "compiler/conversion/rows/rows_read.h"

#include "llvm/ADT/SetVector.h"

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/lower_dynamic.h"
#include "compiler/conversion/rows/map_scale.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::rows {

std::optional<unsigned> operandReadAsRows(Operation &op) {
  if (op.getNumResults() != 1 || !ir::dataDim(op.getResult(0)))
    return std::nullopt;
  if (auto reduce = llvm::dyn_cast<ir::ReduceOp>(op)) {
    const ir::Monoid monoid = reduce.getMonoid();
    return monoid == ir::Monoid::Sum || monoid == ir::Monoid::Mean ? std::optional(0U)
                                                                   : std::nullopt;
  }
  if (!isProduct(&op))
    return std::nullopt;
  const Loops loops = loopsOf(&op);
  std::optional<unsigned> operand = ir::dataDim(op.getOperand(0)) ? 0 : 1;
  if (isDynamic(&op, loops)) {
    const auto weights = sideOfWeights(&op, loops);
    operand = weights ? std::optional(1 - *weights) : std::nullopt;
  }
  return operand && ir::dataDim(op.getOperand(*operand)) ? operand : std::nullopt;
}

uint64_t rowsOf(Value value, const space::Region &region, int64_t lanes) {
  const auto dim = static_cast<size_t>(*ir::dataDim(value));
  if (region.empty())
    return 0;
  if (region.extents.empty())
    return 1;
  const int64_t along = (region.end(dim) - 1) / lanes - region.start[dim] / lanes + 1;
  return static_cast<uint64_t>(region.size() / region.extents[dim] * along);
}

bool readsRows(Operation *view) {
  auto relayout = llvm::dyn_cast<ir::RelayoutOp>(view);
  return !relayout || !relayout.getDynamic();
}

bool mayBecomeWeights(Value value, ConstantValues &constants) {
  llvm::SetVector<Value> same;
  same.insert(value);
  for (size_t i = 0; i < same.size(); ++i)
    for (OpOperand &use : same[i].getUses()) {
      Operation *user = use.getOwner();
      if (isProduct(user)) {
        const Loops loops = loopsOf(user);
        if (isDynamic(user, loops) && sideOfWeights(user, loops) == use.getOperandNumber())
          return true;
      } else if (llvm::isa<ir::ViewInterface>(user)) {
        if (!readsRows(user))
          return true;
        same.insert(user->getResult(0));
      } else if (auto map = llvm::dyn_cast<ir::MapOp>(user);
                 map && scaleOf(map, constants).mayBeAffine) {
        same.insert(map.getResult());
      }
    }
  return false;
}

} // namespace sluice::rows
