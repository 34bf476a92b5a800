// The patterns of `sluice-simplify-views`. Each has a label, which the options of the pass and
// --without-rewrite accept.
#pragma once

#include "compiler/dialect/sluice/operations.h"
#include "mlir/IR/PatternMatch.h"

namespace sluice::ir {

/// Adds patterns that move slices towards the inputs: through concats, pads, broadcasts,
/// transposes, reversals, maps and reductions. Elements that the slice drops are then never
/// computed.
void addSlicePatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns that merge several views into one: concats of adjacent slices, concats of concats,
/// pads of pads, broadcasts of broadcasts, phases that are interleaved again.
void addMergePatterns(mlir::RewritePatternSet &patterns);

/// Adds the pattern that replaces a slice of the features of a product by a slice of its weights.
void addProductPatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns that turn dilated and strided windows into dense windows over the phases of an
/// axis, interleaved. The pass applies them only with `phases`, because their benefit depends on
/// the readers of the window.
void addPhasePatterns(mlir::RewritePatternSet &patterns);

/// Returns the type with another shape and the same element type. `dim` is its data dimension;
/// without `dim` it has none.
mlir::RankedTensorType withShape(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> shape,
                                 std::optional<int64_t> dim);

/// Returns a slice of `input` with the same data dimension, or `input` itself if the slice would
/// contain all elements in order.
mlir::Value sliced(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                   llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
                   llvm::ArrayRef<int64_t> steps);

} // namespace sluice::ir
