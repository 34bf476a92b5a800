// The dialect's monoids and their definitions.
#pragma once

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/reference/monoid.h"

namespace sluice::ir {

/// The definition that the attribute names: its enumerators have the same values.
constexpr reference::Monoid definedBy(Monoid monoid) {
  static_assert(static_cast<int>(reference::Monoid::ArgMax) == static_cast<int>(Monoid::ArgMax));
  return static_cast<reference::Monoid>(monoid);
}

} // namespace sluice::ir
