// A lower bound on the weight blocks of a plan with loops, known before groups and runs are chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/conversion/plan/report/fit.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

struct BlockBound {
  uint64_t blocks = 0;             ///< of all cores together
  std::vector<plan::User> largest; ///< nodes; a block counts for the first that has it
};

/// Returns a bound for a program: the blocks that its trips multiply by, each counted once. A plan
/// stores each of them on at least one core.
BlockBound blockBound(const rows::Program &program);

} // namespace sluice::loops
