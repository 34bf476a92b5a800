// MaxUnpool: elements put where a MaxPool took them from, whose indices are known.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"
#include "compiler/frontend/onnx/ops/window.h"

namespace sluice::frontend::ops {
namespace {

/// The tensor that the pooling was of, which the indices are in.
Shape pooledFrom(const NodeView &node) {
  Shape shape = node.in(0).shape;
  const size_t axes = shape.size() - 2;
  const Shape kernel = perAxis(node, "kernel_shape"), strides = perAxis(node, "strides");
  for (size_t i = 0; i < axes; ++i) {
    const int64_t pads =
        node.given("pads") ? node.integers("pads")[i] + node.integers("pads")[axes + i] : 0;
    shape[i + 2] = (shape[i + 2] - 1) * strides[i] - pads + kernel[i];
  }
  return shape;
}

std::string indexProblem(const NodeView &node) {
  if (node.in(1).shape != node.in(0).shape)
    return shapeText(node.in(1).shape) + " for " + shapeText(node.in(0).shape);
  const int64_t count = elementCount(pooledFrom(node), kMostFoldedElements);
  if (count < 0)
    return shapeText(pooledFrom(node));
  std::set<int64_t> seen;
  for (const int64_t index : node.knownInts(1)) {
    if (index < 0 || index >= count)
      return fmt::format("index {} of {}", index, count);
    if (!seen.insert(index).second)
      return fmt::format("index {} twice", index);
  }
  return "";
}

std::string outputProblem(const NodeView &node) {
  if (!node.has(2))
    return "";
  const Shape from = pooledFrom(node), &to = node.knownInts(2);
  bool fits = to.size() == from.size() && to[0] == from[0] && to[1] == from[1] &&
              elementCount(to, kMostFoldedElements) >= 0;
  for (size_t i = 0; fits && i < to.size(); ++i)
    fits = to[i] >= from[i];
  return fits ? "" : shapeText(to) + " for " + shapeText(from);
}

/// Every element of the result is one of X, or the 0 behind them.
void buildUnpool(NodeBuilder &node) {
  Emitter &emit = node.emit;
  const Shape from = pooledFrom(node), to = node.has(2) ? node.knownInts(2) : from;
  const int64_t count = extentProduct(node.in(0).shape, 0, node.in(0).shape.size());
  std::vector<int64_t> sources(extentProduct(from, 0, from.size()), count);
  for (int64_t i = 0; i < count; ++i)
    sources[node.knownInts(1)[i]] = i;
  const Tensor all = emit.concat(
      {emit.reshape(node.in(0), {count}), Tensor::ofKnown(HostTensor::ofFloats({1}, {0}))}, 0);
  Tensor y = emit.reshape(gathered(emit, all, sources, 0), from);
  if (to != from) {
    Shape high(to.size());
    for (size_t i = 0; i < to.size(); ++i)
      high[i] = to[i] - from[i];
    y = emit.pad(y, Shape(to.size(), 0), high, 0);
  }
  node.result(std::move(y));
}

} // namespace

void addMaxUnpool(OperatorTable &table) {
  Operator entry;
  entry.name = "MaxUnpool";
  entry.form = "reshape, concat with 0, slices, reshape";
  entry.inputs = {{"X"},
                  {"I", Types::Integer, Presence::Required, true},
                  {"output_shape", Types::Integer, Presence::Optional, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"kernel_shape", AttributeKind::Ints, std::nullopt, true},
                      {"pads", AttributeKind::Ints},
                      {"strides", AttributeKind::Ints}};
  entry.requirements = {
      hasSpatialAxes(),
      perSpatialAxis("kernel_shape"),
      perSpatialAxis("strides"),
      {"'pads' must have two elements per spatial axis, and leave at least one element of the "
       "result",
       [](const NodeView &node) -> std::string {
         if (!node.given("pads"))
           return "";
         const Shape &pads = node.integers("pads");
         const bool fits = pads.size() == 2 * (node.in(0).shape.size() - 2) &&
                           std::all_of(pads.begin(), pads.end(),
                                       [](int64_t pad) { return pad >= 0 && pad <= kMaxElements; });
         const Shape from = fits ? pooledFrom(node) : Shape{};
         return fits && *std::min_element(from.begin(), from.end()) >= 1 ? "" : shapeText(pads);
       },
       kShapes},
      {"'I' must have the shape of 'X', and distinct indices into the tensor before pooling",
       indexProblem, kShapes},
      {"'output_shape' must be the shape before pooling, or larger along spatial axes",
       outputProblem, kShapes}};
  entry.build = buildUnpool;
  table.add({9, 11, 22}, entry);
}

} // namespace sluice::frontend::ops
