// Asks every operation of a function for its index space.
#pragma once

#include <vector>

#include "compiler/pipeline/operation_space.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace sluice::pipeline {

/// Of a function that is laid out, in program order; rows have `lanes` elements.
/// Operations on constants alone are left out.
std::vector<OperationSpace> explainSpaces(mlir::FunctionOpInterface function, int64_t lanes);

} // namespace sluice::pipeline
