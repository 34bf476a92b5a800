#include "compiler/dialect/sluice/cone.h"

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/reference/scalar.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sluice::ir {

Cone coneOf(Value value) {
  Cone cone;
  llvm::SmallPtrSet<Operation *, 8> known;
  llvm::SmallVector<Value> pending{value};
  while (!pending.empty()) {
    const Value next = pending.pop_back_val();
    if (auto argument = llvm::dyn_cast<BlockArgument>(next))
      cone.arguments.insert(argument);
    else if (Operation *op = next.getDefiningOp(); known.insert(op).second) {
      cone.body.push_back(op);
      llvm::append_range(pending, readValues(op));
    }
  }
  llvm::sort(cone.body, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return cone;
}

std::optional<double> constantScalar(Value scalar) {
  if (!coneOf(scalar).arguments.empty())
    return std::nullopt;
  Block &body = *scalar.getDefiningOp()->getBlock();
  const llvm::SmallVector<double> unread(body.getNumArguments(), 0);
  return reference::ScalarProgram(body, scalar)(unread);
}

} // namespace sluice::ir
