// The phases behind the front: plan, core dialect, program.
#pragma once

#include <string>
#include <vector>

#include "compiler/conversion/model/fastest_plan.h"
#include "compiler/conversion/plan/order/pins.h"
#include "compiler/pipeline/compilation.h"

namespace sluice::pipeline {

/// E0499.
Problem internalError(const std::string &what);

/// The operations that stay on some cores; a problem for each core that the target has not.
std::vector<plan::Pin> pinsOf(const CompileOptions &options, const format::Geometry &geometry,
                              Problems &problems);

/// Plans the forms of a model for the geometry of the result, up to options.stage. False if the
/// problems say why not.
bool runBack(std::vector<conversion::Form> forms, const CompileOptions &options, Compilation &made);

} // namespace sluice::pipeline
