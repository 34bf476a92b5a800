// Which token says that which row has arrived.
#pragma once

#include <cstdint>

namespace sluice::plan {

/// How the rows of a core share its tokens.
enum class Slots : uint8_t {
  One,    ///< a core has one token, and one instruction announces many rows
  Many,   ///< rows of a stage take its tokens in turn, and a reader takes more with one instruction
  InRuns, ///< runs of all its rows do: the most rows may be on the way
};

/// Tokens by producer. Every token has one producer, so the n-th give is the
/// n-th row of that producer, whatever the timing.
struct TokenLayout {
  uint32_t coreStride = 1; ///< between the tokens of neighbouring cores
  uint32_t slots = 1;      ///< tokens per core
  bool inRuns = false;     ///< Slots::InRuns
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

  /// `index` is that in the stage, or with `inRuns` that of all rows that the core sends.
  uint32_t ofCore(uint32_t core, uint32_t index) const {
    return core * coreStride + (inRuns ? index / kRun : index) % slots * slotStride;
  }

  /// Whole runs of rows share a token, so that one instruction announces them.
  uint32_t ofHost(uint32_t index) const { return host + index / kRun % hosts; }

  uint32_t ofLocal(uint32_t index) const { return local + index / kRun % locals; }

  static constexpr uint32_t kRun = 240;
  static constexpr uint32_t kHosts = 5; ///< most that `hosts` can be

  /// Without sums ahead, their token is one more for local rows.
  static TokenLayout make(uint32_t cores, Slots slots, bool sumsAhead);
};

} // namespace sluice::plan
