// The rows of a tensor, each with a number, as boxes of rows with equal numbers.
#pragma once

#include <optional>
#include <vector>

#include "compiler/index_space/projection.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sluice::ir {

/// A box of elements. All of its rows have the same number.
struct RowBox {
  space::Region elements;
  unsigned number = 0;
};

/// The rows of a tensor with a data dimension. A row has up to `lanes` elements along it.
class NumberedRows {
public:
  NumberedRows(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t lanes,
               std::vector<unsigned> numbers);

  /// Returns the extents of the tensor counted in rows.
  static llvm::SmallVector<int64_t, 4> extents(llvm::ArrayRef<int64_t> shape, int64_t dim,
                                               int64_t lanes);

  /// Returns boxes that make up the tensor; nothing if there are more than `most`.
  [[nodiscard]] std::optional<std::vector<RowBox>> boxes(size_t most) const;

  /// Joins the values of all boxes, in their order, to a tensor of this type.
  mlir::Value joined(mlir::OpBuilder &builder, mlir::Location where, mlir::RankedTensorType type,
                     llvm::ArrayRef<mlir::Value> values) const;

private:
  /// Consecutive indices along an axis, in rows, whose rows are the same.
  struct Run {
    int64_t start, size;
  };

  [[nodiscard]] llvm::SmallVector<Run> runs(int64_t first, size_t axis) const;
  [[nodiscard]] int64_t elementsAt(size_t axis, int64_t rows) const;
  bool addBoxes(int64_t first, size_t axis, RowBox &box, size_t most,
                std::vector<RowBox> &found) const;

  llvm::SmallVector<int64_t, 4> shape, cells; ///< in elements and in rows
  std::vector<int64_t> strides;               ///< of neighbours along an axis, in rows
  int64_t dim, lanes;
  std::vector<unsigned> numbers; ///< row-major
};

} // namespace sluice::ir
