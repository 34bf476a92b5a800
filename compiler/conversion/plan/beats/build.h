// The beats of every unit: tokens, waits and addresses put to an order.
#pragma once

#include <vector>

#include "compiler/conversion/plan/beats/beats.h"
#include "compiler/conversion/plan/beats/entry.h"
#include "compiler/conversion/plan/beats/token_layout.h"
#include "compiler/conversion/plan/order/order.h"

namespace sluice::plan {

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

MachineBeats buildBeats(const rows::Graph &graph, const Work &work, const Placement &placement,
                        const Order &order, const TokenLayout &tokens, const Entry &entry = {});

} // namespace sluice::plan
