// Plans as the search tries them: built from a choice, proved, timed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/plan/report/explain.h"
#include "compiler/conversion/plan/report/fit.h"
#include "compiler/conversion/plan/search/budget.h"
#include "compiler/conversion/plan/search/choice.h"
#include "runtime/format/program.h"
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

/// The rows of a choice on their cores and in order, which do not depend on tokens and entry.
struct OrderedRows {
  Choice choice; ///< as far as the order depends on it
  Placement placement;
  std::vector<MemoryUse> use; ///< of the data
  bool hasRoom = false;
  std::optional<Order> order; ///< nothing if the data has no room, or if there is no order
};

/// Makes the candidates of one graph, and says in its budget what they cost.
class CandidateMaker {
public:
  CandidateMaker(const rows::Graph &graph, const Work &work, Budget &budget)
      : graph(graph), work(work), budget(budget) {}

  Candidate build(const Choice &choice);

  /// What a candidate plans: the graph, or its variant.
  const rows::Graph &graphOf(const Candidate &candidate) const {
    return candidate.variant ? candidate.variant->split.graph : graph;
  }
  const Work &workOf(const Candidate &candidate) const {
    return candidate.variant ? candidate.variant->work : work;
  }

  /// Returns false if the data of a choice has no room. Of a choice with split rows, this is not
  /// known. Free of cost.
  bool mayHaveRoom(const Choice &choice) const;

  /// The first thing that is wrong with a candidate that fits.
  std::optional<std::string> verify(const Candidate &candidate) const;
  bool sound(const Candidate &candidate) const { return candidate.fits && !verify(candidate); }

  /// Spaced latency in cycles; kUntimed if it does not fit or stalls.
  uint64_t time(const Candidate &candidate) const;
  /// Nothing if it does not fit or stalls.
  std::optional<vm::Timing> timeAll(const Candidate &candidate) const;
  /// Free of cost: what is told of a plan must not change it.
  std::optional<Explanation> explain(const Candidate &candidate) const;

private:
  /// Returns the order of a choice, whose variant the candidate has.
  const OrderedRows &order(const Choice &choice, const Candidate &candidate);
  std::shared_ptr<const Variant> variantOf(const Choice &choice);
  std::optional<format::Program> timedPart(const Candidate &candidate) const;

  const rows::Graph &graph;
  const Work &work;
  Budget &budget;
  /// By what it depends on of a choice; those in use and the last one are there.
  std::map<Choice, std::weak_ptr<const Variant>> variants;
  std::shared_ptr<const Variant> lastVariant;
  std::optional<OrderedRows> lastOrdered; ///< choices that follow each other often share an order
};

} // namespace sluice::plan
