// What the search for a plan decides.
#pragma once

#include <string>
#include <tuple>

#include "compiler/conversion/plan/beats/build.h"
#include "compiler/conversion/plan/order/order.h"
#include "compiler/conversion/plan/order/split_contractions.h"

namespace sluice::plan {

/// A tail: all operands are late.
inline constexpr uint32_t kAll = kNone;

/// What distinguishes one plan from another.
struct Choice {
  PlacementOptions placement; ///< `cores` is what `split` gives
  SplitOptions split;
  Slots slots = Slots::One;
  bool takeArrived = false;
  Tails tails;
  Entry entry;

  auto key() const {
    return std::tie(placement.keepTogether, placement.copies, placement.byOperand, placement.follow,
                    placement.byArrival, placement.byCell, placement.lateApart, placement.runs,
                    placement.inputsEverywhere, placement.reuse, placement.tablesApart,
                    placement.spread, placement.byOwn, split, slots, takeArrived, tails, entry);
  }
  bool operator<(const Choice &other) const { return key() < other.key(); }

  /// As `sluice explain --plan` words it: the decisions that are not the usual ones.
  std::string text() const;

  /// The decisions of this choice that `chosen` made otherwise. How many operands each stage
  /// defers is one decision here, without its numbers.
  std::string differencesFrom(const Choice &chosen) const;
};

} // namespace sluice::plan
