// The plan of a model: of its forms the one that runs fastest.
#pragma once

#include <vector>

#include "compiler/conversion/plan/plan.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::conversion {

/// Plans forms of one model; they share the work of the options, and the first that fits is taken
/// if there is none. False, and the problems of the first form, if none can be planned; where that
/// does not fit, of the form that comes closest to fitting. plan.memory is then what that form
/// would use.
bool planFastest(const std::vector<rows::Program> &forms, const plan::PlanOptions &options,
                 plan::Plan &plan, Problems &problems);

} // namespace sluice::conversion
