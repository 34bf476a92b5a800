// Changes with which a function has a layout: tensors that change their data dimension between two
// operations (relayouts), and operations in another form (LayoutTuple::rewrite). The solver chooses
// the cheapest ones.
#pragma once

#include "compiler/layout/system.h"

namespace sluice::layout {

/// Returns the cheapest rewrites that make `active` solvable, in program order. The rewrites are at
/// operations of `chains`, the relations of all conflicts. If that is not enough and `allowed` is
/// Any, they may be at any operation of the same component. Returns nothing if no allowed rewrites
/// are enough. `budget` limits the revisions in the search of one component.
std::optional<std::vector<LayoutRewrite>> findRewrites(const LayoutSystem &layout,
                                                       llvm::ArrayRef<RelationId> active,
                                                       llvm::ArrayRef<RelationId> chains,
                                                       Rewrites allowed, uint64_t budget);

/// Returns the changes with a text (LayoutRewrite::change).
std::vector<Change> changesOf(llvm::ArrayRef<LayoutRewrite> rewrites);

/// Returns "relayout of operand 0 'x' from [3 4!] to [3! 4] at node 2; ...; and 5 more".
std::string changesText(llvm::ArrayRef<Change> changes);

} // namespace sluice::layout
