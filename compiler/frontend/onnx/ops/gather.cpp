// Gather with indices known at import: a selection.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

/// The indices along an axis, counted from the front.
std::vector<int64_t> indicesOf(const NodeView &node, int64_t extent) {
  std::vector<int64_t> indices = node.knownInts(1);
  for (int64_t &index : indices)
    index += index < 0 ? extent : 0;
  return indices;
}

/// Rows of a constant, by the integers of an input. The axes of the indices come where `axis` was.
Tensor lookedUp(NodeBuilder &node, int64_t axis) {
  const int64_t rank = node.in(0).rank(), indexRank = node.in(1).rank();
  Shape front{axis};
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      front.push_back(i);
  const Tensor rows = node.emit.chosenRows(node.emit.transpose(node.in(0), front), node.in(1));
  Shape order;
  for (int64_t i = 0; i < axis; ++i)
    order.push_back(indexRank + i);
  for (int64_t i = 0; i < indexRank; ++i)
    order.push_back(i);
  for (int64_t i = axis; i < rank - 1; ++i)
    order.push_back(indexRank + i);
  return axis == 0 ? rows : node.emit.transpose(rows, order);
}

Operator gather() {
  Operator entry;
  entry.name = "Gather";
  entry.form = "slices, then concat and reshape";
  entry.inputs = {{"data", Types::Any}, {"indices", Types::Integer}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{0}}};
  entry.requirements = {
      axisInRange("data"),
      {"input 'indices' must be known at compile time, or depend on one integer input alone, "
       "element by element, with a constant 'data'",
       [](const NodeView &node) -> std::string {
         if (node.in(1).known || (node.in(1).lookup && node.in(0).known))
           return "";
         return describe(node.in(node.in(1).lookup ? 0 : 1));
       }},
      {"the indices must be in [-extent, extent-1] of 'axis'",
       [](const NodeView &node) -> std::string {
         if (!node.in(1).known)
           return "";
         int64_t extent = node.in(0).shape[node.axis(node.integer("axis"), node.in(0).rank())];
         for (int64_t index : node.knownInts(1))
           if (index < -extent || index >= extent)
             return fmt::format("{} for extent {}", index, extent);
         return "";
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const Shape &from = node.in(0).shape, &indexShape = node.in(1).shape;
    const int64_t axis = node.axis(node.integer("axis"), node.in(0).rank());
    if (!node.in(1).known) {
      node.result(lookedUp(node, axis));
      return;
    }
    const std::vector<int64_t> indices = indicesOf(node, from[axis]);
    Shape to(from.begin(), from.begin() + axis);
    to.insert(to.end(), indexShape.begin(), indexShape.end());
    to.insert(to.end(), from.begin() + axis + 1, from.end());
    const int64_t elements = elementCount(to, kMostFoldedElements);
    if (elements < 0)
      throw NodeError{kShapes, fmt::format("the result {} has more than {} elements", shapeText(to),
                                           kMostFoldedElements)};
    if (node.in(0).known) {
      const int64_t inner = extentProduct(from, axis + 1, from.size());
      const auto count = static_cast<int64_t>(indices.size());
      node.result(Tensor::ofKnown(node.in(0).known->select(to, [&](int64_t flat) {
        return (flat / (inner * count) * from[axis] + indices[flat / inner % count]) * inner +
               flat % inner;
      })));
      return;
    }
    if (elements == 0) {
      node.result(Tensor::ofKnown({node.in(0).type, to, {}, {}})); // whatever the data is
      return;
    }
    const Tensor picked = gathered(node.emit, node.in(0), indices, axis);
    // A scalar index drops the axis, indices of other ranks split it.
    node.result(indexShape.empty() ? node.emit.squeeze(picked, {axis})
                                   : node.emit.reshape(picked, to));
  };
  return entry;
}

} // namespace

void addGather(OperatorTable &table) { table.add({1, 11, 13}, gather()); }

} // namespace sluice::frontend::ops
