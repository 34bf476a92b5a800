// When the next inference may enter.
#pragma once

#include <compare>
#include <cstdint>

#include "compiler/conversion/plan/order/placement.h"

namespace sluice::plan {

/// When a core says that the next inference may enter.
struct Entry {
  uint32_t release = kNone; ///< after its last row of a stage up to this one
  /// Its sums ahead need not be done. Whoever writes what they read asks the cores, at the end of
  /// each inference.
  bool beforeSums = false;

  auto operator<=>(const Entry &) const = default;
};

} // namespace sluice::plan
