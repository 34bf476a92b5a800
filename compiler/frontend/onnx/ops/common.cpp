#include "compiler/frontend/onnx/ops/common.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace sluice::frontend::ops {

Requirement sameTypes() {
  return {"all inputs must have the same element type",
          [](const NodeView &node) -> std::string {
            std::vector<std::string> names;
            bool same = true;
            for (size_t i = 0; i < node.inputCount(); ++i)
              if (node.has(i)) {
                names.push_back(dataTypeName(node.in(i).type));
                same &= names.back() == names.front();
              }
            return same ? "" : fmt::format("{}", fmt::join(names, ", "));
          },
          kShapes};
}

Requirement knownIntegers(bool andBools) {
  return {andBools ? "integers and bools must be known at compile time"
                   : "integers must be known at compile time",
          [](const NodeView &node) -> std::string {
            for (size_t i = 0; i < node.inputCount(); ++i)
              if (node.has(i) && !isFloatType(node.in(i).type) && !node.in(i).known)
                return fmt::format("{} at run time", dataTypeName(node.in(i).type));
            return "";
          }};
}

Requirement broadcastable() {
  return {"the input shapes must broadcast",
          [](const NodeView &node) -> std::string {
            std::vector<Shape> shapes;
            for (size_t i = 0; i < node.inputCount(); ++i)
              if (node.has(i))
                shapes.push_back(node.in(i).shape);
            return broadcastShape(shapes) ? "" : inputShapes(node);
          },
          kShapes};
}

Requirement broadcastsTo(const std::string &first, const std::string &others) {
  return {fmt::format("{} to the shape of '{}'", others, first),
          [](const NodeView &node) -> std::string {
            for (size_t i = 1; i < node.inputCount(); ++i)
              if (node.has(i) &&
                  broadcastShape({node.in(0).shape, node.in(i).shape}) != node.in(0).shape)
                return inputShapes(node);
            return "";
          },
          kShapes};
}

Requirement axisInRange(const std::string &input, bool pastEnd) {
  return {fmt::format("attribute 'axis' must be in [-rank, rank{}] of input '{}'",
                      pastEnd ? "" : "-1", input),
          [pastEnd](const NodeView &node) -> std::string {
            int64_t axis = node.integer("axis");
            int64_t rank = node.in(0).rank();
            return axis >= -rank && axis < rank + pastEnd
                       ? ""
                       : fmt::format("axis {} for rank {}", axis, rank);
          },
          kShapes};
}

std::optional<std::vector<int64_t>> givenAxes(const NodeView &node) {
  if (node.given("axes"))
    return node.integers("axes");
  if (node.has(1))
    return node.knownInts(1);
  return std::nullopt;
}

std::string axesProblem(const std::vector<int64_t> &axes, int64_t rank) {
  std::set<int64_t> seen;
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      return fmt::format("axis {} for rank {}", axis, rank);
    if (!seen.insert(axis < 0 ? axis + rank : axis).second)
      return fmt::format("axis {} twice", axis);
  }
  return "";
}

std::vector<int64_t> sortedAxes(const std::vector<int64_t> &axes, int64_t rank) {
  std::vector<int64_t> out;
  for (int64_t axis : axes)
    out.push_back(axis < 0 ? axis + rank : axis);
  std::sort(out.begin(), out.end());
  return out;
}

std::string inputShapes(const NodeView &node) {
  std::vector<std::string> shapes;
  for (size_t i = 0; i < node.inputCount(); ++i)
    if (node.has(i))
      shapes.push_back(shapeText(node.in(i).shape));
  return fmt::format("{}", fmt::join(shapes, " and "));
}

Tensor sliceAlong(Emitter &emit, const Tensor &x, int64_t axis, int64_t start, int64_t count,
                  int64_t step) {
  Shape starts(x.shape.size(), 0), sizes = x.shape, steps(x.shape.size(), 1);
  starts[axis] = start;
  sizes[axis] = count;
  steps[axis] = count > 1 ? step : 1;
  return emit.slice(x, starts, sizes, steps);
}

int64_t extentProduct(const Shape &shape, size_t from, size_t to) {
  int64_t product = 1;
  for (size_t i = from; i < to; ++i)
    product *= shape[i];
  return product;
}

} // namespace sluice::frontend::ops
