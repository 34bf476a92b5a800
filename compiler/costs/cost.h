// The cost of a block of an index space on the machine, and of one more step of a loop. The
// functions count on projections, for given data dimensions of the tensors.
#pragma once

#include <optional>

#include "compiler/costs/block_cost.h"
#include "compiler/index_space/index_space.h"

namespace sluice::space {

/// The layout of the tensors of an index space in tensor RAM.
struct RowLayouts {
  int64_t lanes = 8;
  /// The data dimension of each operand and result; nothing for a constant. A tensor of rank 0 has
  /// axis 0 as its data dimension, and one row.
  llvm::SmallVector<std::optional<unsigned>, 2> operands;
  llvm::SmallVector<std::optional<unsigned>, 1> results;
};

/// Returns the number of iterations in one step of a loop: the number of lanes if the loop runs
/// along the data dimension of an operand or result, otherwise 1.
int64_t stepOf(const IndexSpace &space, unsigned loop, const RowLayouts &layouts);

/// Returns the smallest block that computes whole rows of results: one step of each parallel loop
/// and all iterations of the reduced loops. The block lies away from the borders if there is room.
Region rowBlock(const IndexSpace &space, const RowLayouts &layouts);

/// Returns the cost of a block.
Cost costOf(const IndexSpace &space, const Region &block, const RowLayouts &layouts);

/// Returns a block like rowBlock(), with one step of `loop` after which another step follows.
/// Returns nothing if the loop has only one step.
std::optional<Region> stepBlock(const IndexSpace &space, unsigned loop, const RowLayouts &layouts);

/// Returns the cost that the next step of `loop` adds to stepBlock(); nothing if the loop has only
/// one step.
std::optional<Cost> marginalCost(const IndexSpace &space, unsigned loop, const RowLayouts &layouts);

} // namespace sluice::space
