// Rows that views pass on as they are.
#pragma once

#include <optional>

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/index_space/pieces.h"

namespace sluice::rows {

/// Follows rows through views to the values that they are rows of.
class ViewedRows {
public:
  explicit ViewedRows(uint32_t lanes) : lanes(lanes) {}

  struct Found {
    mlir::Value value; ///< no view
    int64_t row = 0;
    bool operator==(const Found &) const = default;
  };

  [[nodiscard]] RowLayout layoutOf(mlir::Value value) const { return rows::layoutOf(value, lanes); }

  /// Returns the row that views pass on as this row of a value. Nothing if its lanes come from
  /// several rows, or from other lanes.
  std::optional<Found> of(mlir::Value value, int64_t row) {
    return of(value, layoutOf(value), row);
  }
  std::optional<Found> of(mlir::Value value, const RowLayout &layout, int64_t row);

private:
  struct Element {
    mlir::Value value;
    int64_t at = 0;
  };

  const uint32_t lanes;
  llvm::DenseMap<mlir::Operation *, space::Pieces> views;

  std::optional<Element> follow(Element element);
};

} // namespace sluice::rows
