#include "compiler/transforms/row_boxes.h"

#include <algorithm>
#include <utility>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/dialect/sluice/tensors.h"
#include "runtime/addressing/addressing.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::ir {

NumberedRows::NumberedRows(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t lanes,
                           std::vector<unsigned> numbers)
    : shape(shape), cells(extents(shape, dim, lanes)), strides(addressing::rowMajorStrides(cells)),
      dim(dim), lanes(lanes), numbers(std::move(numbers)) {}

llvm::SmallVector<int64_t, 4> NumberedRows::extents(llvm::ArrayRef<int64_t> shape, int64_t dim,
                                                    int64_t lanes) {
  llvm::SmallVector<int64_t, 4> cells(shape);
  cells[dim] = llvm::divideCeilSigned(shape[dim], lanes);
  return cells;
}

/// The number of elements before this number of rows.
int64_t NumberedRows::elementsAt(size_t axis, int64_t rows) const {
  return std::cmp_equal(axis, dim) ? std::min(rows * lanes, shape[axis]) : rows;
}

/// The runs along an axis of the rows from `first` on.
llvm::SmallVector<NumberedRows::Run> NumberedRows::runs(int64_t first, size_t axis) const {
  llvm::SmallVector<Run> found;
  const int64_t inner = strides[axis];
  const auto at = [&](int64_t index) { return numbers.begin() + first + index * inner; };
  for (int64_t i = 0; i < cells[axis]; ++i)
    if (!found.empty() && std::equal(at(i), at(i + 1), at(found.back().start)))
      ++found.back().size;
    else
      found.push_back({i, 1});
  return found;
}

bool NumberedRows::addBoxes(int64_t first, size_t axis, RowBox &box, size_t most,
                            std::vector<RowBox> &found) const {
  if (axis == shape.size()) {
    box.number = numbers[first];
    found.push_back(box);
    return found.size() <= most;
  }
  return llvm::all_of(runs(first, axis), [&](const Run &run) {
    const int64_t start = elementsAt(axis, run.start);
    box.elements.start[axis] = start;
    box.elements.extents[axis] = elementsAt(axis, run.start + run.size) - start;
    return addBoxes(first + run.start * strides[axis], axis + 1, box, most, found);
  });
}

std::optional<std::vector<RowBox>> NumberedRows::boxes(size_t most) const {
  std::vector<RowBox> found;
  RowBox box{space::wholeOf(shape)};
  return addBoxes(0, 0, box, most, found) ? std::optional(std::move(found)) : std::nullopt;
}

Value NumberedRows::joined(OpBuilder &builder, Location where, RankedTensorType type,
                           llvm::ArrayRef<Value> values) const {
  const auto join = [&](auto &self, int64_t first, size_t axis) -> Value {
    if (axis == shape.size()) {
      const Value value = values.front();
      values = values.drop_front();
      return value;
    }
    llvm::SmallVector<Value> parts;
    for (const Run &run : runs(first, axis))
      parts.push_back(self(self, first + run.start * strides[axis], axis + 1));
    if (parts.size() == 1)
      return parts.front();
    auto whole = builder.create<ConcatOp>(where, parts, axis);
    whole.getResult().setType(withShape(type, shapeOf(whole), dim));
    return whole.getResult();
  };
  return join(join, 0, 0);
}

} // namespace sluice::ir
