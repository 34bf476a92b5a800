// Where the elements of a tensor are: the geometry of rows and lanes, and for
// every row of a tensor the row of the graph that holds it. Views only make new
// row tensors; nothing is computed until somebody needs a row as it stands.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/conversion/row.h"
#include "runtime/addressing/addressing.h"

namespace mlir {
class Value;
}

namespace sluice::rows {

/// A shape on rows of `lanes` elements, the data dimension along the lanes
/// (addressing::rowStrides). Rank 0 is [1].
class RowLayout {
public:
  RowLayout() = default;
  RowLayout(std::vector<int64_t> shape, int64_t dim, int64_t lanes);

  struct Place {
    int64_t row;
    int64_t lane;
  };
  /// Place of an element by its row-major index.
  [[nodiscard]] Place place(int64_t flat) const;
  /// The inverse: row-major index of the element in a used lane.
  [[nodiscard]] int64_t flat(int64_t row, int64_t lane) const;
  /// Lanes of a row that carry elements.
  [[nodiscard]] int64_t used(int64_t row) const;

  [[nodiscard]] int64_t rows() const { return elements() / extent * rowsPerIndex; }
  [[nodiscard]] int64_t elements() const { return slots.elements(); }
  [[nodiscard]] int64_t dimExtent() const { return extent; }
  /// Row-major distance of neighbours along the data dimension.
  [[nodiscard]] int64_t dimStride() const { return inner; }
  [[nodiscard]] int64_t rowsAlong() const { return rowsPerIndex; }

private:
  addressing::Addressing slots; ///< lane l of row r is address r * lanes + l
  int64_t extent = 1;           ///< of the data dimension
  int64_t inner = 1;            ///< elements per step of it
  int64_t rowsPerIndex = 1;     ///< ceil(extent / lanes)
  int64_t lanes = 1;
};

/// Returns where the elements of a value are. A constant is laid out along its first axis.
RowLayout layoutOf(mlir::Value value, int64_t lanes);

/// An element: scale * (lane of a row) + offset, or only offset without a row.
/// Everything but a matrix product wants scale 1 and offset 0.
struct Element {
  RowId row = kNoRow;
  uint32_t lane = 0;
  double scale = 1;
  double offset = 0;
  [[nodiscard]] bool plain() const { return row != kNoRow && scale == 1 && offset == 0; }
  bool operator==(const Element &) const = default;
};

/// One row of a tensor.
struct RowRef {
  /// The row that holds it lane by lane, or kNoRow: see `gather`.
  RowId row = kNoRow;
  /// Lane 0 of `row` stands for every lane.
  bool broadcast = false;
  /// Without a row: where each used lane comes from.
  std::vector<Element> gather;

  [[nodiscard]] Element element(uint32_t lane) const {
    return row == kNoRow ? gather[lane] : Element{row, broadcast ? 0 : lane, 1, 0};
  }
};

struct TensorRows;

struct RowTensor {
  RowLayout layout;
  std::vector<RowRef> rows;
  const TensorRows *elements = nullptr; ///< what its rows are, if they are a tensor of the model

  [[nodiscard]] Element element(int64_t flat) const {
    const RowLayout::Place place = layout.place(flat);
    return rows[place.row].element(static_cast<uint32_t>(place.lane));
  }
  /// Every row is held by a row of the graph, lane by lane.
  [[nodiscard]] bool aligned() const;
};

} // namespace sluice::rows
