// Rewrites of reductions write reductions, views and maps with this class.
#pragma once

#include "compiler/dialect/sluice/operations.h"
#include "mlir/IR/Builders.h"

namespace sluice::ir {

class LineWriter {
public:
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

  /// Writes before `before`, with its location.
  explicit LineWriter(mlir::Operation *before)
      : LineWriter(mlir::OpBuilder(before), before->getLoc()) {}
  LineWriter(mlir::OpBuilder builder, mlir::Location where) : builder(builder), where(where) {}

  /// The result keeps the reduced axes.
  mlir::Value reduce(Monoid monoid, mlir::Value x, llvm::ArrayRef<int64_t> axes);
  /// `dim` is the data dimension of the result. Returns `x` itself if it has the shape.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape, std::optional<int64_t> dim);
  /// The data dimension moves with its axis. Returns `x` itself if the axes stay where they are.
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> order);
  /// Returns `x` itself if it has the shape.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value map(mlir::ValueRange operands, Body body);

  /// x - y, where `y` is broadcast to the shape of `x`. So in the next ones.
  mlir::Value difference(mlir::Value x, mlir::Value y);
  mlir::Value product(mlir::Value x, mlir::Value y);
  mlir::Value quotient(mlir::Value x, mlir::Value y);
  /// exp(x - y)
  mlir::Value power(mlir::Value x, mlir::Value y);
  /// The larger of `peak` and the lowest number: where all elements are minus infinity, their
  /// distances from a finite maximum are, too.
  mlir::Value finite(mlir::Value peak);

private:
  /// Applies a scalar operation to x and to y, broadcast.
  template <typename Op> mlir::Value apply(mlir::Value x, mlir::Value y);

  mlir::OpBuilder builder;
  mlir::Location where;
};

/// Puts a value with the reduced axes, of extent 1, in the place of a reduction.
void replaceByKept(ReduceOp op, mlir::Value kept);

/// How many equal parts a reduction along the lanes is divided into: as many as cores, a power of
/// two, each of whole rows and of at least 16 rows. One if the reduction has several lines.
int64_t partsOfLine(ReduceOp op, int64_t lanes, int64_t cores);

} // namespace sluice::ir
