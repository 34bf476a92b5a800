// Conflicts of layout rules, and their description for the user: the operation whose rule fails,
// and a minimal chain of deductions that leads to it. fixes.h finds the fixes.
#pragma once

#include "compiler/layout/system.h"

namespace sluice::layout {

/// A minimal set of relations without a common solution: without any one of them there is a
/// solution. The error names the operation of the last one.
struct Conflict {
  std::vector<RelationId> chain;

  RelationId blamed() const { return chain.back(); }
};

/// Returns the problem of a conflict, without fixes. `others` are all relations of the function
/// except the blamed relations of conflicts.
Problem describe(const LayoutSystem &layout, const Conflict &conflict,
                 llvm::ArrayRef<RelationId> others);

/// Returns the location at which to report a conflict.
mlir::Location locationOf(const LayoutSystem &layout, const Conflict &conflict);

} // namespace sluice::layout
