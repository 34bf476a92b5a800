// The planner: who computes which row, where it lives and when. In comes a row
// graph, out come the memory images and instruction lists of a machine.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/plan/order/pins.h"
#include "compiler/conversion/plan/report/facts.h"
#include "compiler/conversion/row_graph.h"
#include "compiler/support/interruption.h"
#include "compiler/support/problem_fwd.h"
#include "compiler/support/progress.h"
#include "runtime/format/program.h"
#include "sim/vm/timing.h"

namespace sluice::plan {

/// Enough for dense networks of thousands of block products to be improved until nothing helps.
inline constexpr uint64_t kDefaultWork = uint64_t{1} << 24;

struct PlanOptions {
  /// What the search may cost (search/budget.h); 0 takes the first that fits.
  uint64_t work = kDefaultWork;
  /// Where the search stops early (Plan::stopped); up to there, it finds the same plans.
  uint64_t stop = std::numeric_limits<uint64_t>::max();
  bool explain = false;         ///< fill Plan::explanation
  std::vector<Pin> pins = {};   ///< operations that stay on some cores
  Progress *progress = nullptr; ///< may be null
  /// Ends the search on request (Plan::interrupted); may be null.
  const Interruption *interruption = nullptr;
};

/// An instruction and the source nodes it serves.
struct PlannedInstruction {
  isa::Instruction instruction;
  std::vector<uint32_t> nodes;            ///< indices into Program::nodes, ascending
  std::vector<format::RowRule> rows = {}; ///< that it writes

  bool operator==(const PlannedInstruction &) const = default;
};

using Instructions = std::vector<PlannedInstruction>;

struct Plan {
  /// Everything but the instructions and the source map.
  format::Program program;
  /// The state stays as it is between inferences until the next input comes (proof/verify.h).
  bool stateRests = false;
  std::vector<format::ModelTensor> tensors; ///< that rows are elements of
  /// By core, the host port's list last.
  std::vector<Instructions> lists;
  std::vector<MemoryUse> memory;
  std::optional<vm::Timing> timing; ///< nothing if no candidate was timed
  uint64_t work = 0;                ///< what was spent on finding it (search/budget.h)
  bool stopped = false;             ///< without PlanOptions::stop, another plan might be found
  bool interrupted = false;         ///< without a request to end, another plan might be found
  std::string text;                 ///< the plan in words, stage by stage
  std::optional<Explanation> explanation;
};

/// Whether it takes fewer cycles from rest, and no more where the next inference follows at once.
/// The period may be longer: what is asked for first is the time until the result.
bool isFaster(const Plan &plan, const Plan &than);

/// Plans a graph for its geometry. Returns the problems, all at once; none: there is a plan.
/// Without one, Plan::memory says what the plan takes that comes closest to fitting. E0401 to E0407
/// what does not fit, E0408 biases that are not finite, E0499 a plan that failed its proof.
/// Deterministic.
[[nodiscard]] Problems makePlan(const rows::Graph &graph, const PlanOptions &options, Plan &result);

} // namespace sluice::plan
