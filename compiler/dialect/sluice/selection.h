// Slices by what they select, and the types of values with other extents.
#pragma once

#include "compiler/dialect/sluice/operations.h"

namespace sluice::ir {

/// Returns the type with another shape and the same element type. `dim` is its data dimension;
/// without `dim` it has none.
mlir::RankedTensorType withShape(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> shape,
                                 std::optional<int64_t> dim = std::nullopt);

/// Returns the type with another extent along an axis and the same data dimension.
mlir::RankedTensorType withExtent(mlir::RankedTensorType type, int64_t axis, int64_t extent);

/// Gives a value that was just built a data dimension, and returns it; without `dim` it has none.
mlir::Value withDim(mlir::Value value, std::optional<int64_t> dim);

/// What a slice selects of a tensor. The step of a single element is 1.
struct Selection : space::Selection {
  /// Selects all elements of a shape.
  explicit Selection(space::ExtentsRef shape)
      : space::Selection(all(space::wholeOf(shape))), from(shape) {}
  explicit Selection(SliceOp op);

  space::Extents from; ///< shape of the tensor

  [[nodiscard]] size_t rank() const { return starts.size(); }
  [[nodiscard]] bool isWhole(size_t axis) const {
    return sizes[axis] == from[axis] && steps[axis] == 1;
  }
  bool operator==(const Selection &) const = default;
};

/// Returns the elements of `chosen` where `test` is not zero, and those of `otherwise` elsewhere.
/// All tensors have the same shape.
mlir::Value select(mlir::OpBuilder &builder, mlir::Location where, mlir::Value test,
                   mlir::Value chosen, mlir::Value otherwise);

/// Returns a slice of `input` along one axis, as sliced().
mlir::Value slicedAlong(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                        size_t axis, int64_t start, int64_t size, int64_t step = 1);

/// Returns a slice of `input` with the same data dimension, or `input` itself if the slice would
/// contain all elements in order.
mlir::Value sliced(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                   const space::Selection &selection);

} // namespace sluice::ir
