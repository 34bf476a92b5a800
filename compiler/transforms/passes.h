// The passes of the sluice dialect. Passes.td describes them.
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

/// Returns the labels of the patterns of `sluice-simplify-views`.
std::vector<std::string> viewRewrites(mlir::MLIRContext &context);

/// Attribute of a function that `sluice-split-choices` has changed.
inline constexpr llvm::StringLiteral kChoicesSplitAttr = "sluice.split_choices";

/// Whether products read heads, so that headsInRows() may change the function.
bool readsHeads(mlir::FunctionOpInterface function, int64_t lanes);

/// Does the work of the pass `sluice-heads-in-rows`. Returns the number of changed products.
unsigned headsInRows(mlir::FunctionOpInterface function, int64_t lanes);

/// Whether sinkFactors() changes the function, at least with constant weights.
bool sinksFactors(mlir::FunctionOpInterface function);

/// Does the work of the pass `sluice-sink-factors`. Returns the number of maps that lost a factor.
unsigned sinkFactors(mlir::FunctionOpInterface function, bool constantWeights);

/// The outcome of unrolling the loops of a function.
struct UnrolledLoops {
  /// The new value for each result of a loop; null if nothing reads the result.
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
  std::vector<Problem> problems;         ///< E0415; the function is then unchanged
  std::vector<mlir::Location> locations; ///< of the problems
};

/// Does the work of the pass `sluice-unroll-loops`.
UnrolledLoops unrollLoops(mlir::FunctionOpInterface function);

/// Emits a problem as an MLIR error: "E0302: ...", then its notes, chain and fixes.
void emitProblem(mlir::Location location, const Problem &problem);

} // namespace sluice::ir
