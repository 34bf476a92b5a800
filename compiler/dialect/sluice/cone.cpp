#include "compiler/dialect/sluice/cone.h"

#include "compiler/reference/scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sluice::ir {

Cone coneOf(Value scalar) {
  Cone cone;
  llvm::SmallPtrSet<Operation *, 8> known;
  llvm::SmallVector<Value> pending{scalar};
  while (!pending.empty()) {
    const Value next = pending.pop_back_val();
    if (auto argument = llvm::dyn_cast<BlockArgument>(next))
      cone.arguments.insert(argument);
    else if (Operation *op = next.getDefiningOp(); known.insert(op).second) {
      cone.body.push_back(op);
      llvm::append_range(pending, op->getOperands());
    }
  }
  llvm::sort(cone.body, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return cone;
}

std::optional<double> constantScalar(Value scalar) {
  const Cone cone = coneOf(scalar);
  if (!cone.arguments.empty())
    return std::nullopt;
  llvm::DenseMap<Value, double> values;
  for (Operation *op : cone.body) {
    double &value = values[op->getResult(0)];
    if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
      value = reference::constantOf(constant);
      continue;
    }
    const reference::Applied applied = reference::appliedBy(op);
    const auto operands = llvm::map_to_vector<3>(
        applied.operands, [&](Value operand) { return values.lookup(operand); });
    value = reference::stepOf(applied.function)(operands.data());
  }
  return values.lookup(scalar);
}

} // namespace sluice::ir
