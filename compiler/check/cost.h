// What it takes to evaluate a graph.
#pragma once

#include "compiler/check/oracle.h"

namespace sluice::check {

/// Returns about how many nanoseconds an evaluation takes, with so many variants of each value.
uint64_t costOf(const Oracle &oracle, size_t variants);

} // namespace sluice::check
