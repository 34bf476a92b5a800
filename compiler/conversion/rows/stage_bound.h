// A lower bound on the rows that are stored while a tensor is computed.
#pragma once

#include <cstdint>

#include "compiler/conversion/rows/bound_facts.h"

namespace sluice::rows {

/// Returns a bound for a function after layout: the rows of a tensor, and the rows that its stage
/// reads. Each graph that lowerToRows makes of the function stores as many rows at once or more. 0
/// if the function has a state.
uint64_t stageBound(BoundFacts &facts, uint32_t lanes);

/// Likewise, if no other bound reads the facts.
inline uint64_t stageBound(mlir::func::FuncOp function, uint32_t lanes) {
  BoundFacts facts(function);
  return stageBound(facts, lanes);
}

} // namespace sluice::rows
