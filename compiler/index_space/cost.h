// What a block of an index space costs on the machine, and one more step of a
// loop: counted on projections, given where every tensor's rows lie.
#pragma once

#include <optional>

#include "compiler/index_space/block_cost.h"
#include "compiler/index_space/index_space.h"

namespace sluice::space {

/// How the tensors of an index space lie in tensor RAM.
struct RowLayouts {
  int64_t lanes = 8;
  /// The data dimension of each operand and result; none: a constant. Rank 0 has
  /// axis 0 as its data dimension, one row.
  llvm::SmallVector<std::optional<unsigned>, 2> operands;
  llvm::SmallVector<std::optional<unsigned>, 1> results;
};

/// Iterations of a loop that make one step: the lanes of a row where it runs along
/// the data dimension of an operand or result, else one.
int64_t stepOf(const IndexSpace &space, unsigned loop, const RowLayouts &layouts);

/// The least block that makes whole rows of results, away from the borders where
/// there is room: one step of each loop, all of the reduced ones.
Region rowBlock(const IndexSpace &space, const RowLayouts &layouts);

Cost costOf(const IndexSpace &space, const Region &block, const RowLayouts &layouts);

/// A row block with a single step of one loop, such that another one follows. Nothing if
/// the loop has one step only.
std::optional<Region> stepBlock(const IndexSpace &space, unsigned loop, const RowLayouts &layouts);

/// What the following step adds to a step block.
std::optional<Cost> marginalCost(const IndexSpace &space, unsigned loop, const RowLayouts &layouts);

} // namespace sluice::space
