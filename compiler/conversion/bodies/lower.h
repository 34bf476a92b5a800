// A function as bodies and families of rows: every level of a partition becomes a
// body, whose trip is lowered like a function of its own.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include "compiler/conversion/bodies/partition.h"
#include "compiler/conversion/rows/lower.h"
#include "compiler/conversion/rows/program.h"
#include "compiler/support/outcome.h"

namespace sluice::bodies {

/// `options`: of the lowering of each trip. `mayFit` is asked about the program when all families,
/// reads and writes are known, but no trip yet. Nothing if it says no, or if a trip cannot be
/// computed by the machine; E0414 if that is so for a reason that the function as a whole does not
/// have.
Outcome<rows::Program> lowerToBodies(mlir::func::FuncOp function, const Partition &partition,
                                     const format::Geometry &geometry, const rows::ModelInfo &info,
                                     const rows::LoweringOptions &options,
                                     llvm::function_ref<bool(const rows::Program &)> mayFit);

} // namespace sluice::bodies
