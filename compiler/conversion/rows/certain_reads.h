// Which elements every lowering of a function computes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/conversion/rows/map_scale.h"
#include "compiler/index_space/projection.h"

namespace sluice::rows {

/// Weights of smaller magnitude may be rounded to zero once they are multiplied with the factors of
/// maps, and so may factors.
inline constexpr double kLeastWeight = 1e-15;

/// For each value of a function after layout, a box of elements that an output depends on through
/// weights and factors that are not zero. Lowering cannot leave them out.
class CertainReads {
public:
  CertainReads(mlir::func::FuncOp function, ConstantValues &constants);

  /// Nothing if no element is certain.
  [[nodiscard]] const space::Region *of(mlir::Value value) const;

  /// Returns a box of whole lines along the data dimension. An output depends on at least one
  /// element of each line. Nothing if of() returns a box, or if no line is certain.
  [[nodiscard]] const space::Region *linesOf(mlir::Value value) const;

  /// Returns a box of an operand that the elements of() the result certainly read, or one element
  /// of each of linesOf() the result; nothing if none is known.
  [[nodiscard]] std::optional<space::Region> readBy(mlir::Operation &op, unsigned operand) const;

  /// Returns a box of an operand that the elements `needed` of the result certainly read; nothing
  /// if none is known.
  [[nodiscard]] std::optional<space::Region> readBy(mlir::Operation &op, unsigned operand,
                                                    const space::Region &needed) const;

  /// The smallest magnitude of the factors of all maps behind a value, up to the next operation
  /// that is none.
  [[nodiscard]] double leastBehind(mlir::Value value) const;

private:
  ConstantValues &constants;
  llvm::DenseMap<mlir::Value, space::Region> regions, lines;
  llvm::DenseMap<mlir::Value, double> behind;

  void add(mlir::Operation &op);
  void addLines(mlir::Operation &op, const space::Region &needed);
  static void read(llvm::DenseMap<mlir::Value, space::Region> &known, mlir::Value value,
                   const std::optional<space::Region> &region);
  bool readsAll(mlir::Operation &product, unsigned operand, const space::Region &needed) const;
};

} // namespace sluice::rows
