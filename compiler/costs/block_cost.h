// The cost of a block of an index space, in rows and beats of the machine.
#pragma once

#include <cstdint>

namespace sluice::space {

/// The cost of a block of an index space. Each row counts once.
struct Cost {
  int64_t rowsRead = 0;    ///< rows of activations
  int64_t rowsWritten = 0; ///< rows of results
  /// Pairs of an operand row and a result row that depends on it. Each pair is a block product of
  /// a matrix unit or a pass of a vector unit (IndexSpace::work).
  int64_t beats = 0;
  int64_t weightBlocks = 0; ///< different blocks of a constant factor
  int64_t workingRows = 0;  ///< rows in memory at once: those that the block reads and writes

  bool operator==(const Cost &) const = default;
};

} // namespace sluice::space
