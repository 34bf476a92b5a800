// Erases operations whose results nothing reads.
#pragma once

#include "compiler/dialect/sluice/interfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace sluice::ir {

/// Erases the given operations that nothing reads, and then every operation that only erased ones
/// have read.
inline void eraseUnread(llvm::ArrayRef<mlir::Operation *> operations) {
  llvm::SetVector<mlir::Operation *> pending(operations.begin(), operations.end());
  while (!pending.empty()) {
    mlir::Operation *op = pending.pop_back_val();
    if (!mlir::isOpTriviallyDead(op))
      continue;
    for (const mlir::Value value : readValues(op))
      if (mlir::Operation *maker = value.getDefiningOp())
        pending.insert(maker);
    op->erase();
  }
}

} // namespace sluice::ir
