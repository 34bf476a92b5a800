// From a set of relations without a solution to what the user is told: the
// operation that refuses and the minimal chain that leads to it. What to do about
// it is in fixes.h.
#pragma once

#include "compiler/layout/system.h"

namespace sluice::layout {

/// One conflict: steps without a common solution, none of which can be left
/// out. The last is the one that is blamed.
struct Conflict {
  std::vector<RelationId> chain;

  RelationId blamed() const { return chain.back(); }
};

/// Describes a conflict, without its fixes. `others` are all relations but those
/// blamed for conflicts.
Problem describe(const LayoutSystem &layout, const Conflict &conflict,
                 llvm::ArrayRef<RelationId> others);

/// Where to report a conflict.
mlir::Location locationOf(const LayoutSystem &layout, const Conflict &conflict);

} // namespace sluice::layout
