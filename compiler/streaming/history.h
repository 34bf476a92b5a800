// What a stream keeps of the past: windows over what one inference gives and what those before
// gave.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/streaming/streaming.h"
#include "mlir/IR/Builders.h"

namespace sluice::streaming {

/// Inferences that are counted at most: in two digits, which bf16 has exactly.
inline constexpr int64_t kCountDigit = 256, kMostCounted = kCountDigit * kCountDigit;

class History {
public:
  explicit History(mlir::OpBuilder &builder) : builder(builder) {}

  /// `count` positions along `axis` of a stream, from `first` on: counted from the first one of
  /// this inference, negative in those before, which states keep. Before the first inference there
  /// is `outside`.
  mlir::Value positions(mlir::Value stream, unsigned axis, int64_t first, int64_t count,
                        double outside = 0);

  /// The stream with `outside` in place of what lies before its first position, for one that is
  /// behind.
  mlir::Value masked(mlir::Value stream, const Sequence &sequence, double outside);

  /// The stream with `outside` in place of what lies behind the last of its `length` positions.
  mlir::Value ended(mlir::Value stream, const Sequence &sequence, int64_t length, double outside);

  /// Ones, of a shape with positions along `axis`; zeros as long as they lie before the first
  /// position of a stream that is `behind`.
  mlir::Value begun(llvm::ArrayRef<int64_t> shape, unsigned axis, int64_t behind);

  /// What `masked` or `ended` made of a stream, if nothing else reads it: it has the elements of
  /// the stream, and is what is stored. The stream itself where there is none.
  [[nodiscard]] mlir::Value stored(mlir::Value stream) const;

private:
  using Digits = std::pair<mlir::Value, mlir::Value>; ///< the units first
  /// How many inferences there have been: tensors of a shape, one pair for all that ask.
  Digits inferences(mlir::Location where, llvm::ArrayRef<int64_t> shape);

  mlir::Value borderOf(mlir::Value stream, mlir::Value made);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> bordered; ///< by stream, the last made of it
  std::map<std::vector<int64_t>, Digits> counted;    ///< by shape
};

/// `chosen` where `test` is not zero, else `otherwise`: tensors of one shape.
mlir::Value select(mlir::OpBuilder &builder, mlir::Location where, mlir::Value test,
                   mlir::Value chosen, mlir::Value otherwise);

} // namespace sluice::streaming
