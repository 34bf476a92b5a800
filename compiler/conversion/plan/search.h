// The choice of a plan: candidates are built, timed on the exact model, and the
// fastest is kept.
#pragma once

#include "compiler/conversion/plan/candidate.h"

namespace sluice::plan {

struct SearchOptions {
  unsigned candidates = 64; ///< that may be timed; 0 takes the first
  bool explain = false;     ///< also say where the cycles go, and of which plans lost
};

/// The best candidate found: the first, improved one decision at a time.
/// Deterministic.
Candidate search(const rows::Graph &graph, const Work &work, const SearchOptions &options);

} // namespace sluice::plan
