// The cost of evaluating a graph.
#pragma once

#include "compiler/check/oracle.h"

namespace sluice::check {

/// Estimates the time of one evaluation in nanoseconds, with `variants` variants of each value.
uint64_t costOf(const Oracle &oracle, size_t variants);

} // namespace sluice::check
