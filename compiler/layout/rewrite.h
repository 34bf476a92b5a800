// Changes of a model that let it lay out where its own operations do not: tensors
// that change their data dimension between two operations, and operations in a
// form that allows more (LayoutTuple::rewrite). The solver chooses them by cost.
#pragma once

#include "compiler/layout/system.h"

namespace sluice::layout {

/// The rewrites, in program order, at the least cost that make `active` solvable: at operations of
/// `chains`, the steps of all conflicts, or where that is not enough and more than what
/// is free is allowed, at any that are tied to them. Nothing if no rewrites do, or `allowed` does
/// not contain them. `budget` bounds the search of one component.
std::optional<std::vector<LayoutRewrite>> findRewrites(const LayoutSystem &layout,
                                                       llvm::ArrayRef<RelationId> active,
                                                       llvm::ArrayRef<RelationId> chains,
                                                       Rewrites allowed, uint64_t budget);

/// The changes that have a text.
std::vector<Change> changesOf(llvm::ArrayRef<LayoutRewrite> rewrites);

/// "relayout of operand 0 'x' from [3 4!] to [3! 4] at node 2; ...; and 5 more".
std::string changesText(llvm::ArrayRef<Change> changes);

} // namespace sluice::layout
