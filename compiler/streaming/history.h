// The history of a stream: windows over the positions of this inference and of earlier ones, which
// states keep.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/streaming/streaming.h"
#include "mlir/IR/Builders.h"

namespace sluice::streaming {

/// The largest count of inferences. The counter has two digits, so that bf16 represents each digit
/// exactly.
inline constexpr int64_t kCountDigit = 256, kMostCounted = kCountDigit * kCountDigit;

class History {
public:
  explicit History(mlir::OpBuilder &builder) : builder(builder) {}

  /// Returns `count` positions of a stream along `axis`, beginning with `first`. Position 0 is the
  /// first one of this inference; states keep the negative ones, which belong to earlier
  /// inferences. Positions before the first inference have the value `outside`.
  mlir::Value positions(mlir::Value stream, unsigned axis, int64_t first, int64_t count,
                        double outside = 0);

  /// Returns the stream with the value `outside` at all positions before its first one. The first
  /// inferences compute such positions if the stream lags behind the input.
  mlir::Value masked(mlir::Value stream, const Sequence &sequence, double outside);

  /// Returns the stream with the value `outside` at all positions after the last of its `length`
  /// positions.
  mlir::Value ended(mlir::Value stream, const Sequence &sequence, int64_t length, double outside);

  /// Returns a tensor of the given shape, with 0 at positions before the first one of a stream that
  /// lags by `behind` positions, and 1 at all others. Positions lie along `axis`.
  mlir::Value begun(llvm::ArrayRef<int64_t> shape, unsigned axis, int64_t behind);

  /// Returns the value to keep in a state for `stream`: the result of `masked` or `ended` if
  /// nothing else reads the stream, otherwise the stream itself.
  [[nodiscard]] mlir::Value stored(mlir::Value stream) const;

private:
  using Digits = std::pair<mlir::Value, mlir::Value>; ///< low digit first
  /// Returns the number of inferences so far, as two tensors of a shape. All callers with the same
  /// shape share the counter.
  Digits inferences(mlir::Location where, llvm::ArrayRef<int64_t> shape);

  mlir::Value borderOf(mlir::Value stream, mlir::Value made);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> bordered; ///< last masked or ended form of each stream
  std::map<std::vector<int64_t>, Digits> counted;    ///< counter of each shape
};

} // namespace sluice::streaming
