// Contractions whose weights are activations.
#pragma once

#include <memory>
#include <optional>

#include "mlir/IR/Operation.h"

#include "compiler/conversion/rows/contraction_loops.h"

namespace sluice::rows {

class Lazy;

/// Whether a contraction needs weights that are computed: both sides are
/// activations, or the one that is keeps its data dimension.
bool isDynamic(mlir::Operation *op, const Loops &loops);

/// Returns which operand of such a contraction becomes weights; nothing if no rule allows its data
/// dimensions.
std::optional<unsigned> sideOfWeights(mlir::Operation *op, const Loops &loops);

/// Returns the axis of the constant operand of such a contraction that lies along the lanes;
/// nothing if no rule allows the data dimensions.
std::optional<size_t> axisOfConstant(mlir::Operation *op, const Loops &loops);

/// The result of such a contraction.
std::unique_ptr<Lazy> lowerDynamic(mlir::Operation *op, const Loops &loops);

/// The result of a dynamic relayout: the input as rows of weights, times unit
/// vectors.
std::unique_ptr<Lazy> lowerRelayout(mlir::Operation *op);

} // namespace sluice::rows
