// Det of small matrices.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Beyond it the expansion has more products than a map is worth.
constexpr int64_t kMostRows = 4;

/// The determinant of the rows from `row` on and the columns of `columns`, by the first row.
mlir::Value expanded(const Scalars &s, mlir::ValueRange elements, int64_t size, int64_t row,
                     const std::vector<int64_t> &columns) {
  if (columns.size() == 1)
    return elements[row * size + columns[0]];
  mlir::Value sum;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<int64_t> others = columns;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const mlir::Value term =
        s.mul(elements[row * size + columns[i]], expanded(s, elements, size, row + 1, others));
    sum = !sum ? term : i % 2 == 0 ? s.add(sum, term) : s.sub(sum, term);
  }
  return sum;
}

void buildDet(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  const int64_t size = x.shape.back(), rank = x.rank();
  Shape outer(x.shape.begin(), x.shape.end() - 2);
  std::vector<Tensor> elements;
  std::vector<int64_t> columns;
  for (int64_t row = 0; row < size; ++row) {
    columns.push_back(row);
    const Tensor line = sliceAlong(node.emit, x, rank - 2, row, 1);
    for (int64_t column = 0; column < size; ++column)
      elements.push_back(
          node.emit.reshape(sliceAlong(node.emit, line, rank - 1, column, 1), outer));
  }
  node.result(node.emit.pointwise(elements, [&](const Scalars &s, mlir::ValueRange v) {
    return expanded(s, v, size, 0, columns);
  }));
}

} // namespace

void addDeterminant(OperatorTable &table) {
  Operator entry;
  entry.name = "Det";
  entry.form = "slices of the elements, then map: the expansion by the first row";
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.requirements = {{"the last two extents of input 'X' must be equal",
                         [](const NodeView &node) -> std::string {
                           const Shape &shape = node.in(0).shape;
                           return shape.size() >= 2 && shape.back() == shape[shape.size() - 2]
                                      ? ""
                                      : shapeText(shape);
                         },
                         kShapes},
                        {fmt::format("the matrices must have 1 to {} rows", kMostRows),
                         [](const NodeView &node) -> std::string {
                           const int64_t rows = node.in(0).shape.back();
                           return rows >= 1 && rows <= kMostRows ? "" : fmt::format("{}", rows);
                         }}};
  entry.build = buildDet;
  table.add({11, 22}, entry);
}

} // namespace sluice::frontend::ops
