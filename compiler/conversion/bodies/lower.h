// A function as bodies and families of rows: every level of a partition becomes a
// body, whose trip is lowered like a function of its own.
#pragma once

#include "compiler/conversion/bodies/partition.h"
#include "compiler/conversion/rows/lower.h"
#include "compiler/conversion/rows/program.h"
#include "compiler/support/outcome.h"

namespace sluice::bodies {

/// `options`: of the lowering of each trip. Nothing if a trip cannot be computed by the machine;
/// E0414 if that is so for a reason that the function as a whole does not have.
Outcome<rows::Program> lowerToBodies(mlir::func::FuncOp function, const Partition &partition,
                                     const format::Geometry &geometry, const rows::ModelInfo &info,
                                     const rows::LoweringOptions &options);

} // namespace sluice::bodies
