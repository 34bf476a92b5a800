// The choice of a plan: candidates are built, timed on the exact model, and the
// fastest is kept.
#pragma once

#include "compiler/conversion/plan/search/candidate.h"
#include "compiler/support/progress.h"

namespace sluice::plan {

/// Beats that may be spent before a plan fits. This is four times the most that any model was seen
/// to need: 845,376 (docs/decisions/search-ends-early.md).
inline constexpr uint64_t kMostWithoutFit = 3'500'000;

struct SearchOptions {
  /// Planned::mayFit(). If no plan fits, the first candidate says what memories it lacks; others
  /// would lack no less.
  bool mayFit = true;
  bool explain = false;            ///< also say where the cycles go, and of which plans lost
  Progress *progress = nullptr;    ///< told of the work that is done; may be null
  const NodeCores *pins = nullptr; ///< PlacementOptions::pins
  /// Beats after which the search ends if no plan fits, whatever the budget.
  uint64_t mostWithoutFit = kMostWithoutFit;
};

/// Beats that are spent whatever the budget, for each of the graph's: up to 17 candidates are
/// built and proved for one that fits, and the best is measured.
inline constexpr uint64_t kBeyondBudget = 128;

/// The best candidate found: the first that fits, improved one decision at a time while the
/// budget lasts; without one the first is not timed either. Deterministic.
Candidate search(const rows::Graph &graph, const Work &work, Budget &budget,
                 const SearchOptions &options);

} // namespace sluice::plan
