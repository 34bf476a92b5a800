// The plan of a model: of its forms the one that runs fastest.
#pragma once

#include <vector>

#include "compiler/conversion/plan/plan.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::conversion {

/// Plans forms of one model, which share the work of the options. Without work, it takes the first
/// form that fits. Returns no problems if a form is planned. Otherwise it returns those of the
/// first form, or of the form that comes closest to fitting if only memory is lacking; plan.memory
/// is then what that form uses.
[[nodiscard]] Problems planFastest(const std::vector<rows::Program> &forms,
                                   const plan::PlanOptions &options, plan::Plan &plan);

} // namespace sluice::conversion
