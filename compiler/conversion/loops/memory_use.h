// Whether a plan with loops fits the machine's memories.
#pragma once

#include <vector>

#include "compiler/conversion/loops/list.h"
#include "compiler/conversion/loops/map.h"
#include "compiler/conversion/plan/report/facts.h"
#include "compiler/support/problem_fwd.h"

namespace sluice::loops {

/// Every memory of every core but the instruction memories.
std::vector<plan::MemoryUse> dataUse(const rows::Program &program, const Map &map);

void addInstructionUse(const format::Geometry &geometry, const std::vector<List> &lists,
                       std::vector<plan::MemoryUse> &use);

/// More of some memory than there is, but not of the inboxes: what has too many rows for those may
/// have room if it takes fewer lines at a time.
bool exceedsOthers(const std::vector<plan::MemoryUse> &use);

/// What does not fit, with the families that take most rows and the nodes that take most weight
/// blocks. A map without bodies names no node.
Problems fitProblems(const rows::Program &program, const Map &map,
                     const std::vector<plan::MemoryUse> &use);

} // namespace sluice::loops
