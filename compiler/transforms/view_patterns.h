// The patterns of `sluice-simplify-views`. Each has a label, which the options of the pass and
// --without-rewrite accept.
#pragma once

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "mlir/IR/PatternMatch.h"

namespace sluice::ir {

/// Adds patterns that move slices towards the inputs: through views, maps and reductions, and to
/// the weights of products. Elements that the slice drops are then never computed. Adjacent slices
/// in a concat become one.
void addViewPatterns(mlir::RewritePatternSet &patterns);

/// The elements that an operation reads of its operands to compute some of its result.
class OperandParts {
public:
  explicit OperandParts(IndexSpaceInterface op);

  const space::IndexSpace space;

  /// Selects along one axis of the result: each operand is selected along its axis of the same
  /// loop. Returns false if the axis has no loop, or an operand does not follow the loop along one
  /// axis.
  bool take(size_t axis, const Selection &taken);

  /// Builds the operation on these parts, with a result of this type.
  mlir::Operation *compute(mlir::OpBuilder &builder, mlir::Location where,
                           mlir::RankedTensorType type) const;

private:
  mlir::Operation *op;
  llvm::SmallVector<Selection, 2> parts; ///< by operand
};

} // namespace sluice::ir
