// Plans of forced choices: what the search could have chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "compiler/conversion/loops/map.h"
#include "compiler/conversion/plan/search/candidate.h"
#include "compiler/conversion/rows/program.h"
#include "tests/support/rng.h"

namespace sluice::fixtures {

/// Plans of a graph row by row.
class Straight {
public:
  explicit Straight(const rows::Graph &graph)
      : graph(graph), work(plan::analyse(graph)), maker(graph, work, budget) {}

  /// A choice at random; no row is split.
  [[nodiscard]] plan::Choice draw(Rng &rng) const;
  [[nodiscard]] std::set<uint32_t> splittable() const {
    return plan::splittableStages(graph, work);
  }
  /// Nothing if the plan does not fit, or its proof refuses it.
  std::optional<format::Program> program(const plan::Choice &choice);

private:
  const rows::Graph &graph;
  plan::Work work;
  plan::Budget budget{0}; // it is counted only
  plan::CandidateMaker maker;
};

/// A plan with loops; nothing if it does not fit. The program is one that loops can run
/// (loops::runnable).
std::optional<format::Program> inLoops(const rows::Program &program, const loops::Choice &choice);

} // namespace sluice::fixtures
