// Transpose, Expand, Tile.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

Shape permutation(const NodeView &node) {
  if (node.given("perm"))
    return node.integers("perm");
  Shape reversed(node.in(0).rank());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return reversed;
}

Operator transpose() {
  Operator entry;
  entry.name = "Transpose";
  entry.form = "transpose";
  entry.inputs = {{"data", Types::Any}};
  entry.outputs = {{"transposed"}};
  entry.attributes = {{"perm", AttributeKind::Ints}};
  entry.requirements = {{"attribute 'perm' must name every axis of 'data' once",
                         [](const NodeView &node) -> std::string {
                           Shape order = permutation(node), all(node.in(0).rank());
                           std::iota(all.begin(), all.end(), 0);
                           return std::is_permutation(order.begin(), order.end(), all.begin(),
                                                      all.end())
                                      ? ""
                                      : shapeText(order);
                         },
                         kShapes}};
  entry.build = [](NodeBuilder &node) {
    node.result(node.emit.transpose(node.in(0), permutation(node)));
  };
  return entry;
}

Operator expand() {
  Operator entry;
  entry.name = "Expand";
  entry.form = "broadcast";
  entry.inputs = {{"input", Types::Any}, {"shape", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.requirements = {
      {"'shape' must have rank 1 and extents of at least 1, and 'input' must broadcast with it",
       [](const NodeView &node) -> std::string {
         const Shape &wanted = node.knownInts(1);
         bool positive =
             std::all_of(wanted.begin(), wanted.end(), [](int64_t extent) { return extent > 0; });
         return node.in(1).rank() == 1 && positive && broadcastShape({node.in(0).shape, wanted})
                    ? ""
                    : fmt::format("{} for {}", shapeText(wanted), shapeText(node.in(0).shape));
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    node.result(node.emit.broadcast(x, *broadcastShape({x.shape, node.knownInts(1)})));
  };
  entry.evaluate = [build = entry.build](NodeBuilder &node) {
    const HostTensor &x = *node.in(0).known;
    const Shape to = *broadcastShape({x.shape, node.knownInts(1)});
    if (x.isFloat()) {
      build(node);
      return;
    }
    if (elementCount(to, kMostFoldedElements) < 0)
      throw NodeError{kShapes,
                      fmt::format("the result has more than {} elements", kMostFoldedElements)};
    node.result(Tensor::ofKnown(
        x.select(to, [&](int64_t flat) { return broadcastIndex(x.shape, to, flat); })));
  };
  return entry;
}

Shape tiledShape(const NodeView &node) {
  Shape shape = node.in(0).shape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] *= node.knownInts(1)[axis];
  return shape;
}

void buildTile(NodeBuilder &node) { node.result(node.emit.tile(node.in(0), node.knownInts(1))); }

void evaluateTile(NodeBuilder &node) {
  const Shape &from = node.in(0).shape;
  Shape to = tiledShape(node);
  node.result(Tensor::ofKnown(node.in(0).known->select(to, [&](int64_t flat) {
    int64_t source = 0, stride = 1;
    for (size_t axis = to.size(); axis-- > 0;) {
      source += flat % to[axis] % from[axis] * stride;
      stride *= from[axis];
      flat /= to[axis];
    }
    return source;
  })));
}

Operator tile() {
  Operator entry;
  entry.name = "Tile";
  entry.form = "broadcast along axes of extent 1, tile";
  entry.inputs = {{"input", Types::Any}, {"repeats", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.requirements = {
      {"input 'repeats' must have one element of at least 0 per axis of 'input'",
       [](const NodeView &node) -> std::string {
         const Shape &repeats = node.knownInts(1);
         const bool fits =
             node.in(1).shape == Shape{node.in(0).rank()} &&
             std::all_of(repeats.begin(), repeats.end(), [](int64_t count) { return count >= 0; });
         return fits ? "" : fmt::format("{} for {}", shapeText(repeats), inputShapes(node));
       },
       kShapes},
      {fmt::format("the result must have 1 to {} elements", kMostFoldedElements),
       [](const NodeView &node) -> std::string {
         Shape factors = node.in(0).shape;
         factors.insert(factors.end(), node.knownInts(1).begin(), node.knownInts(1).end());
         return elementCount(factors, kMostFoldedElements) > 0
                    ? ""
                    : fmt::format("{} times {}", shapeText(node.in(0).shape),
                                  shapeText(node.knownInts(1)));
       }}};
  entry.build = buildTile;
  entry.evaluate = evaluateTile;
  return entry;
}

/// The one element of an input, if it is a whole number.
std::optional<int64_t> wholeNumber(const NodeView &node, size_t input) {
  const HostTensor &known = *node.in(input).known;
  if (known.size() != 1)
    return std::nullopt;
  if (!known.isFloat())
    return known.ints.front();
  const float value = known.floats.front();
  if (value != std::trunc(value) || std::abs(value) > static_cast<float>(kMostFoldedElements))
    return std::nullopt;
  return static_cast<int64_t>(value);
}

/// Opset 1 repeats along one axis.
Operator tileOneAxis() {
  Operator entry;
  entry.name = "Tile";
  entry.form = "broadcast along axes of extent 1, tile";
  entry.inputs = {{"input", Types::Any},
                  {"tiles", Types::Numeric, Presence::Required, true},
                  {"axis", Types::Numeric, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.requirements = {
      {"inputs 'tiles' and 'axis' must have one element, a whole number",
       [](const NodeView &node) -> std::string {
         for (const size_t i : {1, 2})
           if (!wholeNumber(node, i))
             return node.in(i).known->size() == 1
                        ? fmt::format("{}", node.in(i).known->floats.front())
                        : "shape " + shapeText(node.in(i).shape);
         return "";
       },
       kShapes},
      {"input 'axis' must be in [-rank, rank-1] of input 'input'",
       [](const NodeView &node) { return axesProblem({*wholeNumber(node, 2)}, node.in(0).rank()); },
       kShapes}};
  const auto repeats = [](std::function<void(NodeBuilder &)> then) {
    return [then = std::move(then), checks = tile().requirements](NodeBuilder &node) {
      Shape counts(node.in(0).rank(), 1);
      counts[node.axis(*wholeNumber(node, 2), node.in(0).rank())] = *wholeNumber(node, 1);
      node.replace(1, Tensor::ofKnown(HostTensor::ofInts({node.in(0).rank()}, counts)));
      for (const Requirement &check : checks)
        if (const std::string found = check.violation(node); !found.empty())
          throw NodeError{check.code, check.sentence + "; found " + found};
      then(node);
    };
  };
  entry.build = repeats(buildTile);
  entry.evaluate = repeats(evaluateTile);
  return entry;
}

} // namespace

void addViews(OperatorTable &table) {
  table.add({1, 13, 21, 23, 24, 25}, transpose());
  table.add({8, 13}, expand());
  table.add({1}, tileOneAxis());
  table.add({6, 13}, tile());
}

} // namespace sluice::frontend::ops
