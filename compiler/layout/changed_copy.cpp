#include "compiler/layout/changed_copy.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sluice::layout {

ChangedCopy::ChangedCopy(FunctionOpInterface original, const DataDimensionOptions &from)
    : module(ModuleOp::create(original.getLoc())), options(from) {
  Operation *copy = original->clone(mapping);
  module->push_back(copy);
  function = llvm::cast<FunctionOpInterface>(copy);
  for (auto &entry : options.names)
    entry.second = entry.second ? mapping.lookupOrNull(entry.second) : Value();
  options.tryCopy = nullptr;
  options.tryFlags = nullptr;
  options.offerRewrites = false;
}

bool ChangedCopy::apply(const ir::LayoutFix &fix, Operation *original) {
  Operation *op = at(original);
  llvm::SetVector<Operation *> before(op->user_begin(), op->user_end());
  before.insert(op);
  if (!fix.apply(op))
    return false;
  for (Operation *old : before) {
    if (old->getNumResults() == 0 || !old->use_empty())
      continue;
    for (auto &entry : options.names)
      if (entry.second && entry.second.getDefiningOp() == old)
        entry.second = Value();
    old->erase();
  }
  return true;
}

} // namespace sluice::layout
