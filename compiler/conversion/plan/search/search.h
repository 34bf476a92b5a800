// The choice of a plan: candidates are built, timed on the exact model, and the
// fastest is kept.
#pragma once

#include "compiler/conversion/plan/search/candidate.h"
#include "compiler/support/progress.h"

namespace sluice::plan {

struct SearchOptions {
  unsigned candidates = 64;     ///< that may be timed; 0 takes the first
  bool explain = false;         ///< also say where the cycles go, and of which plans lost
  Progress *progress = nullptr; ///< told of every candidate; may be null
};

/// The best candidate found: the first, improved one decision at a time.
/// Deterministic.
Candidate search(const rows::Graph &graph, const Work &work, const SearchOptions &options);

} // namespace sluice::plan
