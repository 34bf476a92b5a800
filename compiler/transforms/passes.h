// Passes inside the sluice dialect; Passes.td says what each does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/analysis/data_dimension.h"
#include "mlir/Pass/Pass.h"

namespace sluice::ir {

#define GEN_PASS_DECL
#include "compiler/transforms/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/transforms/passes.h.inc"

/// Infers the data dimensions of a function, after the rewrites that takes if
/// options.rewrites allow them; those are in the result.
analysis::DataDimensions layOut(mlir::FunctionOpInterface function,
                                analysis::DataDimensionOptions options);

/// What the pass `sluice-sink-factors` does; how many maps lost a factor.
unsigned sinkFactors(mlir::FunctionOpInterface function, bool constantWeights);

/// Writes inferred data dimensions on the types of a function.
void annotate(mlir::FunctionOpInterface function, const analysis::DataDimensions &dimensions);

/// A problem as an MLIR error: "E0302: ...", then its notes, chain and fixes.
void emitProblem(mlir::Location location, const Problem &problem);

} // namespace sluice::ir
