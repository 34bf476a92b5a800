// GridSample: a product with weights that a map computes from the grid. The weight of an element
// of the input at a place is the product, over the spatial axes, of a function of the distance
// between the two; beyond the input there is nothing to sum over.
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

const std::string &text(const NodeView &node, const char *name) {
  return node.attribute<std::string>(name);
}

bool isCubic(const NodeView &node) { return text(node, "mode").ends_with("cubic"); }

mlir::Value select(const Scalars &s, arith::CmpFPredicate predicate, mlir::Value l, mlir::Value r,
                   mlir::Value then, mlir::Value otherwise) {
  const mlir::Value test = s.make<arith::CmpFOp>(predicate, l, r);
  return s.make<arith::SelectOp>(test, then, otherwise);
}

/// There and back between -1 and 1, for any number.
mlir::Value reflected(const Scalars &s, mlir::Value x) {
  const mlir::Value turns = s.make<math::FloorOp>(s.scale(s.add(x, s.constant(1)), 0.25F));
  const mlir::Value phase = s.sub(x, s.scale(turns, 4)); // in [-1, 3)
  return s.sub(s.constant(1), s.magnitude(s.sub(phase, s.constant(1))));
}

/// A number of the grid, -1 to 1 over the input, where it is outside: as the padding says. The
/// numbers are near 0, where bf16 has more of them than among the elements of an axis.
mlir::Value padded(const Scalars &s, const NodeView &node, mlir::Value x, int64_t extent) {
  const auto size = static_cast<float>(extent);
  const std::string &padding = text(node, "padding_mode");
  if (padding == "zeros")
    return x;
  if (padding == "reflection")
    x = reflected(s, x);
  const float last = node.integer("align_corners") != 0 ? 1 : (size - 1) / size;
  return s.clamp(x, -last, last);
}

/// Where it lies among the elements of an axis, from `origin` on:
/// (x + 1) / 2 * (size - 1), or ((x + 1) * size - 1) / 2.
mlir::Value coordinate(const Scalars &s, const NodeView &node, mlir::Value x, int64_t extent,
                       mlir::Value origin) {
  const auto size = static_cast<float>(extent);
  const float factor = (node.integer("align_corners") != 0 ? size - 1 : size) / 2;
  return s.sub(s.scale(x, factor), s.sub(origin, s.constant((size - 1) / 2)));
}

/// The weight of the element `place` for a number of the grid.
mlir::Value weight(const Scalars &s, const NodeView &node, mlir::Value x, int64_t extent,
                   mlir::Value place) {
  if (text(node, "mode") == "nearest") {
    const mlir::Value nearest =
        s.make<math::RoundEvenOp>(coordinate(s, node, x, extent, s.constant(0)));
    return select(s, arith::CmpFPredicate::OEQ, nearest, place, s.constant(1), s.constant(0));
  }
  const mlir::Value distance = s.magnitude(coordinate(s, node, x, extent, place));
  if (!isCubic(node))
    return s.relu(s.sub(s.constant(1), distance));
  // Keys' cubic with a = -0.75: two polynomials, and 0 from a distance of 2 on.
  const float a = -0.75F;
  const mlir::Value d = s.make<arith::MinimumFOp>(distance, s.constant(2));
  const mlir::Value near =
      s.add(s.mul(s.mul(s.sub(s.scale(d, a + 2), s.constant(a + 3)), d), d), s.constant(1));
  const mlir::Value far = s.scale(
      s.sub(s.mul(s.add(s.mul(s.sub(d, s.constant(5)), d), s.constant(8)), d), s.constant(4)), a);
  return select(s, arith::CmpFPredicate::OLE, d, s.constant(1), near, far);
}

void buildGridSample(NodeBuilder &node) {
  const Tensor &x = node.in(0), &grid = node.in(1);
  const int64_t axes = x.rank() - 2, batch = x.shape[0];
  const int64_t places = extentProduct(grid.shape, 1, grid.shape.size() - 1);
  const int64_t elements = extentProduct(x.shape, 2, x.shape.size());
  // Weights [batch, places, spatial...]: of every axis the grid's number and the places along it.
  const Tensor list = node.emit.reshape(grid, {batch, places, axes});
  std::vector<Tensor> operands;
  Shape column = {batch, places};
  column.resize(2 + axes, 1);
  for (int64_t axis = 0; axis < axes; ++axis) {
    // The last of a place's numbers is that of the first spatial axis.
    const Tensor numbers = sliceAlong(node.emit, list, 2, axes - 1 - axis, 1);
    operands.push_back(node.emit.reshape(numbers, column));
    operands.push_back(countAlong(axis, axes, x.shape[2 + axis]));
  }
  const NodeView &view = node;
  Tensor weights = node.emit.pointwise(operands, [&](const Scalars &s, mlir::ValueRange v) {
    mlir::Value product;
    for (int64_t axis = 0; axis < axes; ++axis) {
      const int64_t extent = x.shape[2 + axis];
      const mlir::Value number = padded(s, view, v[2 * axis], extent);
      const mlir::Value one = weight(s, view, number, extent, v[2 * axis + 1]);
      product = product ? s.mul(product, one) : one;
    }
    return product;
  });
  weights = node.emit.reshape(weights, {batch, places, elements});
  const Tensor rows = node.emit.reshape(x, {batch, x.shape[1], elements});
  // Loops: batch, channel, place, element.
  Tensor y = node.emit.contract(4, {{0, 1, 3}, {0, 2, 3}, {0, 1, 2}}, rows, weights);
  Shape shape = {batch, x.shape[1]};
  shape.insert(shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  y = node.emit.reshape(y, shape);
  y.type = x.type;
  node.result(std::move(y));
}

Requirement oneOf(const char *name, std::vector<std::string> allowed) {
  std::vector<std::string> quoted;
  for (const std::string &one : allowed)
    quoted.push_back(inQuotes(one));
  return {fmt::format("attribute '{}' must be {}", name, alternatives(quoted)),
          [name, allowed](const NodeView &node) -> std::string {
            return std::find(allowed.begin(), allowed.end(), text(node, name)) == allowed.end()
                       ? inQuotes(text(node, name))
                       : "";
          },
          kShapes};
}

/// Version 16 has two spatial axes and names the modes otherwise.
Operator gridSample(bool isFirst) {
  Operator entry;
  entry.name = "GridSample";
  entry.form = "map: the weight of each element at each position; contract with them";
  entry.inputs = {{"X"}, {"grid"}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"align_corners", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"mode", AttributeKind::String, std::string(isFirst ? "bilinear" : "linear")},
                      {"padding_mode", AttributeKind::String, std::string("zeros")}};
  entry.requirements = {
      isFirst ? oneOf("mode", {"bilinear", "nearest", "bicubic"})
              : oneOf("mode", {"linear", "nearest", "cubic"}),
      oneOf("padding_mode", {"zeros", "border", "reflection"}),
      {isFirst ? "input 'X' must have rank 4, and 'grid' must be [batch, height, width, 2]"
               : "input 'X' must have rank 3 or more, and 'grid' be [batch, output axes, number of "
                 "spatial axes]",
       [isFirst](const NodeView &node) -> std::string {
         const Shape &x = node.in(0).shape, &grid = node.in(1).shape;
         const bool fits = (isFirst ? x.size() == 4 : x.size() >= 3) && grid.size() == x.size() &&
                           grid[0] == x[0] && grid.back() == static_cast<int64_t>(x.size()) - 2;
         return fits ? "" : inputShapes(node);
       },
       kShapes},
      {"a cubic 'mode' must have 'padding_mode' 'zeros'",
       [](const NodeView &node) -> std::string {
         return isCubic(node) && text(node, "padding_mode") != "zeros"
                    ? inQuotes(text(node, "padding_mode"))
                    : "";
       }},
      {fmt::format("there must be at most {} weights: elements per channel of 'X' times positions "
                   "of 'grid'",
                   kMostWeights),
       [](const NodeView &node) -> std::string {
         Shape all = node.in(0).shape;
         all[1] = 1;
         all.insert(all.end(), node.in(1).shape.begin() + 1, node.in(1).shape.end() - 1);
         return elementCount(all, kMostWeights) >= 0 ? "" : inputShapes(node);
       }}};
  entry.build = buildGridSample;
  return entry;
}

} // namespace

void addGridSample(OperatorTable &table) {
  table.add({16}, gridSample(true));
  table.add({20, 22}, gridSample(false));
}

} // namespace sluice::frontend::ops
