// A lower bound on the weight blocks of a model, known before a row is made.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/conversion/rows/bound_facts.h"
#include "compiler/support/problem.h"

namespace sluice::rows {

/// Weight blocks that a product adds at least to those of the products before it.
struct ProductBlocks {
  NodeRef node;
  double blocks = 0;
};

struct WeightBound {
  uint64_t blocks = 0;                 ///< all cores together store at least as many
  std::vector<ProductBlocks> products; ///< the largest first
};

/// Returns a bound for a function after layout. Each lowering of it stores as many blocks or more,
/// however it groups the rows, scales the weights or shares equal blocks.
WeightBound weightBound(BoundFacts &facts, uint32_t lanes);

/// Likewise, if no other bound reads the facts.
inline WeightBound weightBound(mlir::func::FuncOp function, uint32_t lanes) {
  BoundFacts facts(function);
  return weightBound(facts, lanes);
}

} // namespace sluice::rows
