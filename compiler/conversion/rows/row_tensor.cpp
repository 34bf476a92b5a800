#include "compiler/conversion/rows/row_tensor.h"

#include <algorithm>

namespace sluice::rows {

RowLayout::RowLayout(std::vector<int64_t> shape, int64_t dim, int64_t lanes) : lanes(lanes) {
  if (shape.empty())
    shape.push_back(1);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto position = static_cast<int64_t>(axis);
    if (position == dim)
      extent = shape[axis];
    else
      outer *= shape[axis];
    if (position > dim)
      inner *= shape[axis];
  }
  rowsPerIndex = (extent + lanes - 1) / lanes;
}

RowLayout::Place RowLayout::place(int64_t flat) const {
  const int64_t low = flat % inner, along = flat / inner % extent, high = flat / inner / extent;
  return {(high * inner + low) * rowsPerIndex + along / lanes, along % lanes};
}

int64_t RowLayout::flat(int64_t row, int64_t lane) const {
  const int64_t index = row / rowsPerIndex, along = row % rowsPerIndex * lanes + lane;
  return (index / inner * extent + along) * inner + index % inner;
}

int64_t RowLayout::used(int64_t row) const {
  return std::min(lanes, extent - row % rowsPerIndex * lanes);
}

bool RowTensor::aligned() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const RowRef &ref) { return ref.row != kNoRow && !ref.broadcast; });
}

} // namespace sluice::rows
