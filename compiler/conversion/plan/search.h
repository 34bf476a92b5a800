// The choice of a plan: candidates are built, timed on the exact model, and the
// fastest is kept.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/conversion/plan/explain.h"
#include "compiler/conversion/plan/fit.h"
#include "compiler/conversion/plan/order.h"
#include "compiler/conversion/plan/split_contractions.h"
#include "sim/vm/timing.h"

namespace sluice::plan {

/// Why there is no schedule.
enum class Stuck : uint8_t { No, Order, Reduction };

inline constexpr uint64_t kUntimed = ~uint64_t{0};

/// The graph with rows split over cores.
struct Variant {
  SplitGraph split;
  Work work;
};

/// A plan, or why it is none.
struct Candidate {
  std::shared_ptr<const Variant> variant; ///< what is planned; null: the graph itself
  Placement placement;
  MachineBeats beats;
  Schedule schedule;
  std::vector<MemoryUse> use;
  bool fits = false;
  uint64_t cycles = kUntimed;       ///< spaced latency
  std::optional<vm::Timing> timing; ///< of the one kept, if candidates are timed
  Stuck stuck = Stuck::No;
  std::optional<Explanation> explanation; ///< if asked for
};

struct SearchOptions {
  unsigned candidates = 64; ///< that may be timed; 0 takes the first
  bool explain = false;     ///< also say where the cycles go, and of which plans lost
};

/// The best candidate found: the first, improved one decision at a time.
/// Deterministic.
Candidate search(const rows::Graph &graph, const Work &work, const SearchOptions &options);

} // namespace sluice::plan
