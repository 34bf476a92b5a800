// The data of the matrix unit: weights, accumulators, preload rows. The timing
// decides what happens when; this evaluates the beats late, in batches, with
// every read seeing what its own cycle would have seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/numerics/numerics.h"
#include "sim/vm/decode.h"
#include "sim/vm/ring.h"
#include "sim/vm/tensor_ram.h"
#include "sim/vm/unit_front.h"

namespace sluice::vm {

/// Rows of accumulators, all zero at first.
class AccRows {
public:
  AccRows(uint32_t rows, uint32_t lanes)
      : m(size_t{rows} * lanes), q(m.size()), poison(m.size()), lanes(lanes) {}

  numerics::AccRow row(uint32_t index) {
    const size_t at = size_t{index} * lanes;
    return {{&m[at], lanes}, {&q[at], lanes}, {&poison[at], lanes}};
  }

private:
  std::vector<int64_t> m, q;
  std::vector<uint8_t> poison;
  uint32_t lanes;
};

class MatrixData {
public:
  MatrixData(const format::Geometry &geometry, const format::CoreImage &image);

  /// Forgets accumulators and results; weights and preload rows stay, with what is on the way
  /// into them.
  void restart();
  /// Writes a row of lanes in their 64-bit form.
  void writePreload(uint32_t row, std::span<const uint64_t> packed);

  /// A beat issues in `now` and reads its x row.
  void issue(const MatrixInstruction &inst, const LoopNest &beat, const TensorRam &ram, Cycle now);

  /// Writes made by the vector unit at the end of cycle `now`: a row of a block
  /// (the weights of one output lane) or a column (one input position).
  void writeRow(uint32_t address, std::span<const uint16_t> row, Cycle now);
  void writeColumn(uint32_t address, std::span<const uint16_t> row, Cycle now);

  /// The oldest result not yet popped, B fp32 lanes, valid until the next
  /// issue. The result must have been issued.
  std::span<const uint32_t> peekResult();
  void popResult() { ++resultsPopped; }

private:
  struct Beat {
    Cycle issued = 0;
    uint32_t weight = 0;
    uint32_t acc = 0;
    uint32_t preload = 0;
    isa::Init init = isa::Init::Keep;
    isa::Emit emit = isa::Emit::None;
    bool multiplies = false;
    uint32_t slot = 0;     ///< of the x row
    bool ownBlock = false; ///< the block changed while it was being read: see `blocks`
  };
  /// A preload row written by a raw emit that a later beat may not see yet.
  struct RawWrite {
    Cycle visible = 0;
    uint32_t row = 0;  ///< of the preload RAM
    uint32_t slot = 0; ///< of rawRows, its content
  };

  static constexpr uint32_t kSlots = 64; ///< beats kept before they must be evaluated
  /// More than the raw writes, one a cycle, that are not yet visible.
  static constexpr uint32_t kRawRows = 4;

  /// Cycle in which processing element p reads the weights of a beat.
  Cycle readCycle(const Beat &beat, uint32_t p) const;
  void evaluateOldest(const numerics::TowardZero &mode);
  void evaluateThrough(size_t count);
  /// Before a write to `block` at the end of `now`: gives beats that have read
  /// a part of it their own copy and evaluates those that have read all of it.
  void protectReaders(uint32_t block, Cycle now);
  /// Writes one weight; beats with their own copy see it where they read later.
  void writeWeight(uint32_t block, uint32_t out, uint32_t in, uint16_t value, Cycle now);
  void applyRawWrites(Cycle now);

  uint16_t *blockAt(uint32_t block);
  numerics::AccRow accAt(uint32_t row) { return accs.row(std::min(row, accCount)); }
  numerics::AccRow preloadAt(uint32_t row) { return preloads.row(std::min(row, preloadCount)); }

  uint32_t lanes, terms, blockCount, accCount, preloadCount;
  uint32_t fanout;               ///< stages of the fan-out
  uint32_t delay;                ///< isa::Latencies::chain
  std::vector<uint16_t> weights; ///< per block [input position][output lane]; one spare block
  AccRows accs, preloads;        ///< one spare row each

  Ring<Beat> beats{kSlots};
  std::vector<uint16_t> xRows;               ///< kSlots rows
  std::vector<std::vector<uint16_t>> blocks; ///< per slot, for ownBlock
  uint32_t nextSlot = 0;
  Ring<RawWrite> rawWrites{8};
  AccRows rawRows; ///< kRawRows
  uint32_t nextRaw = 0;

  std::vector<uint32_t> results; ///< ring of result rows
  uint64_t resultsMade = 0, resultsPopped = 0;
};

} // namespace sluice::vm
