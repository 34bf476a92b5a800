// Several cores may compute a sum of products in parts. Two cores do where the rows of a stage are
// shared out without a remainder and the share of one core ends within a row. A chain of cores does
// where a stage has a few long rows.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "compiler/conversion/plan/order/placement.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

/// Each core of a chain adds the sum of the one before to its own and sends it to the next.
struct Chain {
  uint32_t cores = 2;
  /// How many products more than the one before a core computes: while it does, the sum of the one
  /// before is on its way.
  uint32_t stairs = 0;

  auto operator<=>(const Chain &) const = default;
};

struct SplitOptions {
  std::set<uint32_t> stages; ///< whose rows are shared out
  /// How many products less than the next a core gets: cores that end one after
  /// the other do not meet in the network. Of the last stage only.
  uint32_t skew = 0;
  /// Whether few rows are shared out over two cores each, though others then have less to do.
  bool pairs = false;
  /// By stage, of none of those: who computes each of its rows.
  std::map<uint32_t, Chain> chains = {};

  [[nodiscard]] bool empty() const { return stages.empty() && chains.empty(); }
  auto key() const { return std::tie(stages, skew, pairs, chains); }
  bool operator<(const SplitOptions &other) const { return key() < other.key(); }
};

struct SplitGraph {
  rows::Graph graph;
  std::vector<uint32_t> cores; ///< by row; kNone where free
};

/// Stages in which a row can be computed in two parts; none where rows are written to weights.
std::set<uint32_t> splittableStages(const rows::Graph &graph, const Work &work);

/// The graph with parts of rows; `placement` is that of `graph`. The part of a row that another
/// core computes is a wide row in front of it, and the row, or the next part, adds it to its own
/// part as fp32. Of two parts, the first has the operands that are expected first; in a chain, a
/// core has the operands that it computes itself, as far as its share goes. `pins` say which cores
/// may be in the chain of a row; null where all may.
SplitGraph splitContractions(const rows::Graph &graph, const Work &work, const Placement &placement,
                             const SplitOptions &options, const NodeCores *pins = nullptr);

/// Proves that every row of `split` is the one of `graph` in its place, with
/// wide parts put back. Gives the first thing that is wrong.
std::optional<std::string> verifySplit(const rows::Graph &graph, const rows::Graph &split);

} // namespace sluice::plan
