// A lower bound on the rows that hold constants, known before a row is made.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/conversion/rows/bound_facts.h"
#include "compiler/support/problem.h"

namespace sluice::rows {

struct ConstantBound {
  uint64_t rows = 0;                               ///< local rows of all cores together
  std::vector<std::pair<NodeRef, uint64_t>> nodes; ///< that read them, most rows first
};

/// Returns a bound for a function after layout. A product whose activations become weights reads
/// its constant as rows, and each core stores the rows that it reads. The count ends at `most`
/// rows.
ConstantBound constantBound(BoundFacts &facts, uint32_t lanes, uint64_t most);

} // namespace sluice::rows
