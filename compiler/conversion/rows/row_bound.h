// A lower bound on the rows that are stored at once, known before a row is made.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/conversion/rows/bound_facts.h"
#include "compiler/support/problem.h"

namespace sluice::rows {

struct RowBound {
  uint64_t rows = 0;                               ///< that are stored at once
  std::vector<std::pair<NodeRef, uint64_t>> nodes; ///< that compute them, and how many each
  uint64_t beats = 0;         ///< of one inference, without those of vector units
  bool readsAnOutput = false; ///< another row reads a row of an output
};

/// Returns a bound for a function after layout. Each graph that lowerToRows makes of it stores as
/// many rows at once or more, and takes as many beats or more.
RowBound rowBound(BoundFacts &facts, uint32_t lanes);

/// Likewise, if no other bound reads the facts.
inline RowBound rowBound(mlir::func::FuncOp function, uint32_t lanes) {
  BoundFacts facts(function);
  return rowBound(facts, lanes);
}

} // namespace sluice::rows
