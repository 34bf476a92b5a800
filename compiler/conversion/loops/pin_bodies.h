// Operations of loops that the user keeps on some of the cores (--core-partition).
#pragma once

#include <vector>

#include "compiler/conversion/plan/order/pins.h"
#include "compiler/conversion/rows/program.h"
#include "compiler/support/problem.h"

namespace sluice::loops {

/// Sets the cores that bodies, and the families whose rows each trip has its own of, are dealt out
/// to. Bodies that hand rows on from trip to trip have the same cores, those of everything in them
/// that is pinned. E0418: a pin of no node or of one that has no rows; two pins in such bodies
/// without a core in common; a part of the cores for what is merged over positions.
Problems pinBodies(rows::Program &program, const std::vector<plan::Pin> &pins);

} // namespace sluice::loops
