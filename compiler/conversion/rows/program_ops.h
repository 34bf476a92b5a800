// A program of rows as operations of the rows dialect, which print, parse and verify,
// and back as what the planner works on.
#pragma once

#include "mlir/IR/OwningOpRef.h"

#include "compiler/conversion/rows/program.h"
#include "compiler/dialect/rows/dialect.h"

namespace sluice::rows {

/// Loads the dialect into `context`. Objects that are equal become one.
mlir::OwningOpRef<ProgramOp> toOps(mlir::MLIRContext &context, const Program &program);

/// Of a program that is verified. Blocks and tables are numbered by their first use in a body.
Program fromOps(ProgramOp source);

} // namespace sluice::rows
