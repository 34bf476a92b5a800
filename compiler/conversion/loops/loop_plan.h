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

/// Plans a program for its geometry. E0401 to E0407 what does not fit, E0408 biases
/// that are not finite, E0499 a plan that failed its proof. Deterministic.
bool makeLoopPlan(const rows::Program &program, const plan::PlanOptions &options,
                  plan::Plan &result, Problems &problems);

} // namespace sluice::loops
