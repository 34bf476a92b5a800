// From a plan to the core dialect.
#pragma once

#include "mlir/IR/OwningOpRef.h"

#include "compiler/conversion/plan/plan.h"
#include "compiler/dialect/core/dialect.h"

namespace sluice::conversion {

/// The instructions of a plan, located at the nodes they serve; verified. Null, with
/// errors, if they are no program of the machine.
mlir::OwningOpRef<core::ProgramOp> toCore(mlir::MLIRContext &context, const plan::Plan &plan);

} // namespace sluice::conversion
