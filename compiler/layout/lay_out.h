// Giving a function its layout: rewrites where it has none as it is, then the data
// dimension of every tensor.
#pragma once

#include "compiler/layout/data_dimension.h"

namespace sluice::layout {

/// Infers the data dimensions of a function, after the rewrites that takes if
/// options.rewrites allow them; those are in the result.
DataDimensions layOut(mlir::FunctionOpInterface function, DataDimensionOptions options);

/// Writes inferred data dimensions on the types of a function.
void annotate(mlir::FunctionOpInterface function, const DataDimensions &dimensions);

} // namespace sluice::layout
