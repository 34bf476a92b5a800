// What can be done about conflicts: changes of the model and of the flags, which
// are tried before they are offered.
#pragma once

#include "compiler/layout/conflict.h"

namespace sluice::layout {

/// Finds the fixes of the conflicts of one function. What is tried for one conflict
/// is remembered for the others.
class FixFinder {
public:
  /// `conflicts` are all of them; `onlyConflicts`: there are no other problems.
  FixFinder(const LayoutSystem &layout, llvm::ArrayRef<Conflict> conflicts, bool onlyConflicts,
            mlir::FunctionOpInterface function, const DataDimensionOptions &options);

  /// Adds the fixes of a conflict to its problem, those that give the fastest program first. A fix
  /// is verified if the function with exactly this change compiles. Of others it is known that the
  /// layout has a solution: there are other problems, or compiling would take too long. A fix that
  /// does not compile is left out where there are others.
  void addTo(Problem &problem, const Conflict &conflict);

private:
  friend class FixSearch;

  const LayoutSystem &layout;
  llvm::ArrayRef<Conflict> conflicts;
  bool onlyConflicts;
  mlir::FunctionOpInterface function;
  const DataDimensionOptions &options;
  std::vector<RelationId> all, others; ///< relations; without those that are blamed
  std::vector<RelationId> chains;      ///< steps of all conflicts
  uint64_t budget;                     ///< revisions that verification may still spend
};

} // namespace sluice::layout
