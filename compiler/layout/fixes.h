// Fixes of conflicts: changes of the model and flags. Each is tried before it is offered.
#pragma once

#include "compiler/layout/conflict.h"

namespace sluice::layout {

/// Finds the fixes of all conflicts of one function, within one budget.
class FixFinder {
public:
  /// `conflicts` has all conflicts of the function. `onlyConflicts`: the function has no other
  /// problems.
  FixFinder(const LayoutSystem &layout, llvm::ArrayRef<Conflict> conflicts, bool onlyConflicts,
            mlir::FunctionOpInterface function, const DataDimensionOptions &options);

  /// Adds the fixes of a conflict to its problem, the fastest program first. A fix is verified if
  /// the function with exactly this change compiles. A fix that is not verified has a layout at
  /// least: the function has other problems, or compiling it takes too long. Fixes that do not
  /// compile are left out if there are others.
  void addTo(Problem &problem, const Conflict &conflict);

private:
  friend class FixSearch;

  const LayoutSystem &layout;
  llvm::ArrayRef<Conflict> conflicts;
  bool onlyConflicts;
  mlir::FunctionOpInterface function;
  const DataDimensionOptions &options;
  std::vector<RelationId> all, others; ///< all relations; all except the blamed ones
  std::vector<RelationId> chains;      ///< relations of all conflicts
  uint64_t budget;                     ///< revisions that verification may still spend
};

} // namespace sluice::layout
