// Which token says that which row has arrived.
#pragma once

#include <cstdint>

namespace sluice::plan {

/// Tokens by producer. Every token has one producer, so the n-th give is the
/// n-th row of that producer, whatever the timing.
struct TokenLayout {
  uint32_t coreStride = 1; ///< between the tokens of neighbouring cores
  uint32_t slots = 1;      ///< tokens per core; rows of a stage take them in turn
  uint32_t slotStride = 0;
  uint32_t host = 0;   ///< first of the tokens of rows from the host
  uint32_t hosts = 1;  ///< how many those are
  uint32_t local = 0;  ///< first of the tokens of rows the core wrote itself; weight
                       ///< blocks take this one
  uint32_t locals = 1; ///< how many those are
  uint32_t done = 0;   ///< in the host port's bank: a core lets the next inference in
  uint32_t ahead = 0;  ///< a core's own matrix unit has summed ahead for the next inference
  /// A beat that waits takes with it all that has arrived by then, so that the beats
  /// behind it need not wait and become one instruction.
  bool takeArrived = false;

  uint32_t ofCore(uint32_t core, uint32_t index) const {
    return core * coreStride + index % slots * slotStride;
  }

  /// Whole runs of rows share a token, so that one instruction announces them.
  uint32_t ofHost(uint32_t index) const { return host + index / kRun % hosts; }

  uint32_t ofLocal(uint32_t index) const { return local + index / kRun % locals; }

  static constexpr uint32_t kRun = 240;
  static constexpr uint32_t kHosts = 5; ///< most that `hosts` can be

  /// With one slot a core's rows are announced by one instruction; with more,
  /// a reader takes more rows with one instruction.
  /// Without sums ahead, their token is one more for local rows.
  static TokenLayout make(uint32_t cores, bool manySlots, bool sumsAhead);
};

} // namespace sluice::plan
