// Changes of a model that let it lay out where its own operations do not: tensors
// that change their data dimension between two operations, and operations in a
// form that allows more (LayoutTuple::rewrite). The solver chooses them by cost.
#pragma once

#include "compiler/analysis/layout_system.h"

namespace sluice::analysis {

/// The rewrites at the least cost that make `active` solvable, in program order:
/// at operations of `chains`, the steps of all conflicts, or where that is not
/// enough at any that are tied to them. Nothing if no rewrites do. `budget` bounds
/// the search of one component.
std::optional<std::vector<LayoutRewrite>> findRewrites(const LayoutSystem &layout,
                                                       llvm::ArrayRef<RelationId> active,
                                                       llvm::ArrayRef<RelationId> chains,
                                                       uint64_t budget);

} // namespace sluice::analysis
