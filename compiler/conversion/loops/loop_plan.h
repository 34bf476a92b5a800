// Plans with loops: for programs of many positions, whose plans take neither time nor
// instructions for each of them.
#pragma once

#include "compiler/conversion/plan/plan.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

/// The program in the form that is planned: the same values.
rows::Program runnable(const rows::Program &program);

/// Whether instructions can be written for the program in groups of some size, whether or not they
/// fit.
bool isPlannable(const rows::Program &program);

/// Plans a program. Returns the same problems as plan::makePlan does for a graph.
[[nodiscard]] Problems makeLoopPlan(const rows::Program &program, const plan::PlanOptions &options,
                                    plan::Plan &result);

} // namespace sluice::loops
