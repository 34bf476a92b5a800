// The layout phase: changes a function that has no layout, and infers the data dimension of every
// tensor.
#pragma once

#include "compiler/layout/data_dimension.h"

namespace sluice::layout {

/// Infers the data dimensions of a function. If it has none, first makes the changes that it needs
/// and `options.rewrites` allows; the result lists them.
DataDimensions layOut(mlir::FunctionOpInterface function, DataDimensionOptions options);

/// Writes inferred data dimensions into the types of a function.
void annotate(mlir::FunctionOpInterface function, const DataDimensions &dimensions);

} // namespace sluice::layout
