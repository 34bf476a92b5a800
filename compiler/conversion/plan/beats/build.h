// The beats of every unit: tokens, waits and addresses put to an order.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "compiler/conversion/plan/beats/beats.h"
#include "compiler/conversion/plan/order/order.h"

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

/// The beats of one inference.
struct MachineBeats {
  std::vector<UnitBeats> matrix; ///< by core
  std::vector<UnitBeats> vector; ///< by core
  UnitBeats host;
  std::vector<std::vector<uint32_t>> weights; ///< by core: graph blocks by address
  uint32_t doneToken = 0;                     ///< in the host port's bank
  /// Cores that let the next inference in by that token, and not by a row that the host port
  /// waits for anyway.
  uint32_t busyCores = 0;
};

/// When a core says that the next inference may enter.
struct Entry {
  uint32_t release = kNone; ///< after its last row of a stage up to this one
  /// Its sums ahead need not be done. Whoever writes what they read asks the cores, at the end of
  /// each inference.
  bool beforeSums = false;

  auto operator<=>(const Entry &) const = default;
};

MachineBeats buildBeats(const rows::Graph &graph, const Work &work, const Placement &placement,
                        const Order &order, const TokenLayout &tokens, const Entry &entry = {});

} // namespace sluice::plan
