// Folds over positions as cores make them: each folds its own positions, and leaves what it
// has for the body that merges the parts of all cores.
//
// A sum stays in accumulators of the matrix unit: set to zero before the loop, added to in
// it, and read twice behind it, for the rounded sum and for what rounding left. The other
// folds are beats of the vector unit whose second operand is their own result of the group
// before: every position of a group has a place of its own, so that beats need not wait for
// each other. The places become one in a body of one trip on each core.
#pragma once

#include <optional>

#include "compiler/conversion/loops/map.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

/// The lanes that a fold begins with.
uint16_t firstOf(rows::Fold fold);

/// The same values, where
///  - a port of a sum has its rows and behind them, once, what rounding left of each,
///  - the rows of a port of another fold are made from themselves: the trip reads the family
///    that the port writes. Its rows are there for every position of a group,
///  - bodies of a trip on each core make of them the parts that the program names.
/// Nothing if a core that has to give a part has not one full group.
std::optional<rows::Program> withFolds(rows::Program program, const Choice &choice);

} // namespace sluice::loops
