// A lower bound on the inbox rows of a plan with loops, known before groups and runs are chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/conversion/plan/report/fit.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

struct RingBound {
  uint64_t rows = 0;               ///< of an inbox, all of them together
  std::vector<plan::User> largest; ///< tensors, the largest first
};

/// Returns a bound for a program, whose trips need not be known. Each plan of it needs as many
/// inbox rows or more, whatever groups and runs it has.
RingBound ringBound(const rows::Program &program);

} // namespace sluice::loops
