#include "compiler/conversion/rows/row_tensor.h"

#include <algorithm>
#include <utility>

#include "compiler/dialect/sluice/tensors.h"

namespace sluice::rows {

RowLayout::RowLayout(std::vector<int64_t> shape, int64_t dim, int64_t lanes) : lanes(lanes) {
  if (shape.empty())
    shape.push_back(1);
  const auto axis = static_cast<size_t>(dim);
  extent = shape[axis];
  rowsPerIndex = (extent + lanes - 1) / lanes;
  inner = addressing::rowMajorStrides(shape)[axis];
  const addressing::Indices strides = addressing::rowStrides(shape, axis, lanes);
  slots = addressing::Addressing::strided(std::move(shape), strides);
}

RowLayout::Place RowLayout::place(int64_t flat) const {
  const int64_t slot = slots.at(flat);
  return {slot / lanes, slot % lanes};
}

int64_t RowLayout::flat(int64_t row, int64_t lane) const {
  return *slots.positionAt(row * lanes + lane);
}

int64_t RowLayout::used(int64_t row) const {
  return std::min(lanes, extent - row % rowsPerIndex * lanes);
}

RowLayout layoutOf(mlir::Value value, int64_t lanes) {
  const auto shape = ir::carriedShape(value);
  return {{shape.begin(), shape.end()}, ir::dataDim(value).value_or(0), lanes};
}

bool RowTensor::aligned() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const RowRef &ref) { return ref.row != kNoRow && !ref.broadcast; });
}

} // namespace sluice::rows
