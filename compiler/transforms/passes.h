// Passes inside the sluice dialect; Passes.td says what each does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/support/problem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace sluice::ir {

#define GEN_PASS_DECL
#include "compiler/transforms/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/transforms/passes.h.inc"

/// The labels of the patterns of `sluice-simplify-views`.
std::vector<std::string> viewRewrites(mlir::MLIRContext &context);

/// What the pass `sluice-heads-in-rows` does; how many products were changed.
unsigned headsInRows(mlir::FunctionOpInterface function, int64_t lanes);

/// What the pass `sluice-sink-factors` does; how many maps lost a factor.
unsigned sinkFactors(mlir::FunctionOpInterface function, bool constantWeights);

/// What came of loops that were written out.
struct UnrolledLoops {
  /// What stands for the loops' results; null for one that nobody reads.
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
  std::vector<Problem> problems;         ///< E0415; the function is then as it was
  std::vector<mlir::Location> locations; ///< of the problems
};

/// What the pass `sluice-unroll-loops` does.
UnrolledLoops unrollLoops(mlir::FunctionOpInterface function);

/// A problem as an MLIR error: "E0302: ...", then its notes, chain and fixes.
void emitProblem(mlir::Location location, const Problem &problem);

} // namespace sluice::ir
