// What a block of an index space costs, as plain numbers.
#pragma once

#include <cstdint>

namespace sluice::space {

/// Cost of a block of index space, each row counted once.
struct Cost {
  int64_t rowsRead = 0;    ///< of activations
  int64_t rowsWritten = 0; ///< of results
  /// Pairs of a row that is read and a row of the result that it goes into: block
  /// products of a matrix unit, or passes of a vector unit (IndexSpace::work).
  int64_t beats = 0;
  int64_t weightBlocks = 0; ///< different blocks of a constant factor
  int64_t workingRows = 0;  ///< held at once: what the block reads and writes

  bool operator==(const Cost &) const = default;
};

} // namespace sluice::space
