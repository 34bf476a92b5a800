// Rows of a stage shared out over the cores without a remainder: where the
// share of one core ends within a row, the row's sum of products is computed in
// two parts by two cores.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "compiler/conversion/plan/order/placement.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

struct SplitOptions {
  std::set<uint32_t> stages; ///< whose rows are shared out
  /// How many products less than the next a core gets: cores that end one after
  /// the other do not meet in the network. Of the last stage only.
  uint32_t skew = 0;
  /// Whether few rows are shared out over two cores each, though others then have less to do: a
  /// row over all of them would be split into more than two parts, which no row is.
  bool pairs = false;

  auto key() const { return std::tie(stages, skew, pairs); }
  bool operator<(const SplitOptions &other) const { return key() < other.key(); }
};

struct SplitGraph {
  rows::Graph graph;
  std::vector<uint32_t> cores; ///< by row; kNone where free
};

/// Stages in which a row can be computed in two parts; none where rows are written to weights.
std::set<uint32_t> splittableStages(const rows::Graph &graph, const Work &work);

/// The graph with shared out stages; `placement` is that of `graph`. The part of
/// a row that another core computes is a wide row in front of it, and the row
/// adds it to its own part as fp32. Operands expected first go to that part.
SplitGraph splitContractions(const rows::Graph &graph, const Work &work, const Placement &placement,
                             const SplitOptions &options);

/// Proves that every row of `split` is the one of `graph` in its place, with
/// wide parts put back. Gives the first thing that is wrong.
std::optional<std::string> verifySplit(const rows::Graph &graph, const rows::Graph &split);

} // namespace sluice::plan
