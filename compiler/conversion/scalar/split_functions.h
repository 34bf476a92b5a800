// Functions that have no table as products and choices of functions that do.
#pragma once

#include "compiler/conversion/scalar/map_select.h"

namespace sluice::rows {

/// Replaces calls that have no table. A function that is constant at both ends
/// becomes c * (f(c) / c) with c the clamped argument: the quotient is nearly
/// constant around zero where f itself is a line of no power-of-two slope.
/// log(1 + x), asinh(x) and acosh(x) become a table and a logarithm.
Expr splitCalls(const Expr &expr, TableCache &tables);

} // namespace sluice::rows
