// The rewrites of `sluice-simplify-views`, each a pattern of its own, with a label that the pass
// knows it by.
#pragma once

#include "compiler/dialect/sluice/operations.h"
#include "mlir/IR/PatternMatch.h"

namespace sluice::ir {

/// Slices move to what their elements come from: through concats, pads, broadcasts, transposes,
/// reversals, maps and reductions. What they leave out is then not made.
void addSlicePatterns(mlir::RewritePatternSet &patterns);

/// Chains and rows of views become one view: concats of neighbouring slices, concats of concats,
/// pads of pads, broadcasts of broadcasts, parts that were taken apart by phases.
void addMergePatterns(mlir::RewritePatternSet &patterns);

/// Slices of features move to the weights of the product that gives them.
void addProductPatterns(mlir::RewritePatternSet &patterns);

/// Dilated and strided windows become dense ones over the phases of an axis, interleaved. What
/// they are worth depends on who reads them, so only who asks for them gets them.
void addPhasePatterns(mlir::RewritePatternSet &patterns);

/// `type` with another shape: of one element type, and along one axis if `dim` is one.
mlir::RankedTensorType withShape(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> shape,
                                 std::optional<int64_t> dim);

/// The slice of `input`, which keeps its data dimension; `input` itself where that is all of it.
mlir::Value sliced(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                   llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
                   llvm::ArrayRef<int64_t> steps);

} // namespace sluice::ir
