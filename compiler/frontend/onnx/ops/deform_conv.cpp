// DeformConv: a convolution whose window has an offset of its own at every element and position.
// What it sees there is a product with weights that a map computes from the offsets: an element of
// the input counts as much as it is near. The distances without the offsets are constants, so that
// the offsets, which are small, are rounded as small numbers.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/convolution.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

enum DeformInput : size_t { kX, kW, kOffset, kBias, kMask };

/// The extents of the batch, the groups with offsets of their own, and what each of these has.
struct Extents {
  int64_t groups = 0; ///< batch times groups of offsets
  int64_t taps = 0, positions = 0, elements = 0;
};

std::vector<WindowAxis> windowsOf(const NodeView &node) {
  return windowAxes(node, kernelOf(node, kW));
}

Shape countsOf(const std::vector<WindowAxis> &windows) {
  Shape out;
  for (const WindowAxis &axis : windows)
    out.push_back(axis.count);
  return out;
}

/// The shape of the mask, or with `each` numbers per place of the offsets.
Shape shapeOfPlaces(const NodeView &node, int64_t each) {
  const Shape kernel = kernelOf(node, kW);
  Shape out = {node.in(kX).shape[0],
               node.integer("offset_group") * extentProduct(kernel, 0, kernel.size()) * each};
  const Shape counts = countsOf(windowsOf(node));
  out.insert(out.end(), counts.begin(), counts.end());
  return out;
}

Extents extentsOf(const NodeView &node, const std::vector<WindowAxis> &windows) {
  const Shape kernel = kernelOf(node, kW), counts = countsOf(windows);
  const Shape &x = node.in(kX).shape;
  return {x[0] * node.integer("offset_group"), extentProduct(kernel, 0, kernel.size()),
          extentProduct(counts, 0, counts.size()), extentProduct(x, 2, x.size())};
}

/// [1, taps, positions, 1..., extent, 1...]: how far behind a tap's own place each element is.
Tensor distancesAlong(const std::vector<WindowAxis> &windows, size_t axis, const Extents &all) {
  const Shape counts = countsOf(windows);
  Shape sizes;
  for (const WindowAxis &one : windows)
    sizes.push_back(one.size);
  const WindowAxis &own = windows[axis];
  const int64_t tapStride = stridesOf(sizes)[axis], placeStride = stridesOf(counts)[axis];
  std::vector<float> values;
  for (int64_t tap = 0; tap < all.taps; ++tap)
    for (int64_t position = 0; position < all.positions; ++position) {
      const int64_t at = position / placeStride % own.count * own.stride +
                         tap / tapStride % own.size * own.dilation - own.low;
      for (int64_t element = 0; element < own.extent; ++element)
        values.push_back(static_cast<float>(element - at));
    }
  Shape shape(3 + windows.size(), 1);
  shape[1] = all.taps;
  shape[2] = all.positions;
  shape[3 + axis] = own.extent;
  return Tensor::ofKnown(HostTensor::ofFloats(std::move(shape), std::move(values)));
}

/// [batch and group, taps, positions, spatial...]: what each element of the input counts.
Tensor weightsOf(NodeBuilder &node, const std::vector<WindowAxis> &windows, const Extents &all) {
  const auto axes = static_cast<int64_t>(windows.size());
  const Tensor offsets =
      node.emit.reshape(node.in(kOffset), {all.groups, all.taps, axes, all.positions});
  Shape column = {all.groups, all.taps, all.positions};
  column.resize(3 + windows.size(), 1);
  std::vector<Tensor> operands;
  for (int64_t axis = 0; axis < axes; ++axis) {
    const Tensor numbers = sliceAlong(node.emit, offsets, 2, axis, 1);
    operands.push_back(node.emit.reshape(numbers, column));
    operands.push_back(distancesAlong(windows, axis, all));
  }
  if (node.has(kMask))
    operands.push_back(node.emit.reshape(node.in(kMask), column));
  return node.emit.pointwise(operands, [&](const Scalars &s, mlir::ValueRange v) {
    mlir::Value product;
    for (int64_t axis = 0; axis < axes; ++axis) {
      const mlir::Value distance = s.magnitude(s.sub(v[2 * axis], v[2 * axis + 1]));
      const mlir::Value near = s.relu(s.sub(s.constant(1), distance));
      product = product ? s.mul(product, near) : near;
    }
    return node.has(kMask) ? s.mul(product, v.back()) : product;
  });
}

void build(NodeBuilder &node) {
  const std::vector<WindowAxis> windows = windowsOf(node);
  const Extents all = extentsOf(node, windows);
  const Shape &x = node.in(kX).shape, &w = node.in(kW).shape;
  const int64_t places = all.taps * all.positions, channels = x[1] / node.integer("offset_group");
  const Tensor weights =
      node.emit.reshape(weightsOf(node, windows, all), {all.groups, places, all.elements});
  const Tensor rows = node.emit.reshape(node.in(kX), {all.groups, channels, all.elements});
  // Loops: batch and group, channel, place, element.
  Tensor seen = node.emit.contract(4, {{0, 1, 3}, {0, 2, 3}, {0, 1, 2}}, rows, weights);
  // The taps are a window that sees them all, at each position.
  seen = node.emit.reshape(seen, {x[0], x[1], all.taps, all.positions});
  WindowAxis taps, positions;
  taps.extent = taps.size = all.taps;
  positions.extent = positions.count = all.positions;
  const Tensor factors = node.emit.reshape(node.in(kW), {w[0], w[1], all.taps, 1});
  Tensor y = convolve(node.emit, seen, factors, {taps, positions}, node.integer("group"));
  Shape shape = {x[0], w[0]};
  const Shape counts = countsOf(windows);
  shape.insert(shape.end(), counts.begin(), counts.end());
  y = node.emit.reshape(y, shape);
  y.type = node.in(kX).type;
  node.result(node.has(kBias) ? biased(node.emit, y, node.in(kBias)) : y);
}

std::vector<Requirement> requirements() {
  std::vector<Requirement> out = convolutionFits({.bias = kBias}, false);
  out.insert(out.begin(), sameTypes());
  out.push_back({"attribute 'offset_group' must divide the channels of 'X'",
                 [](const NodeView &node) -> std::string {
                   const int64_t groups = node.integer("offset_group");
                   const int64_t channels = node.in(kX).shape[1];
                   return groups >= 1 && channels % groups == 0
                              ? ""
                              : fmt::format("{} for {} channels", groups, channels);
                 },
                 kShapes});
  out.push_back({"'offset' must be [batch, groups * window * axes, ...], and 'mask' [batch, groups "
                 "* window, ...]",
                 [](const NodeView &node) -> std::string {
                   const Shape offsets = shapeOfPlaces(node, node.in(kX).rank() - 2);
                   if (node.in(kOffset).shape != offsets)
                     return fmt::format("'offset' {}, expected {}",
                                        shapeText(node.in(kOffset).shape), shapeText(offsets));
                   const Shape mask = shapeOfPlaces(node, 1);
                   return !node.has(kMask) || node.in(kMask).shape == mask
                              ? ""
                              : fmt::format("'mask' {}, expected {}",
                                            shapeText(node.in(kMask).shape), shapeText(mask));
                 },
                 kShapes});
  out.push_back(
      {fmt::format(
           "there must be at most {} weights: elements per channel of 'X' times elements of 'mask'",
           kMostWeights),
       [](const NodeView &node) -> std::string {
         Shape all = shapeOfPlaces(node, 1);
         const Shape &x = node.in(kX).shape;
         all.insert(all.end(), x.begin() + 2, x.end());
         return elementCount(all, kMostWeights) >= 0 ? "" : inputShapes(node);
       }});
  return out;
}

} // namespace

void addDeformConv(OperatorTable &table) {
  Operator entry;
  entry.name = "DeformConv";
  entry.form = "map: the weight of each element at each position; contract with them, then with W; "
               "then map: + B";
  entry.inputs = {{"X"},
                  {"W"},
                  {"offset"},
                  {"B", Types::Float, Presence::Optional},
                  {"mask", Types::Float, Presence::Optional}};
  entry.outputs = {{"Y"}};
  entry.attributes = {
      {"dilations", AttributeKind::Ints},    {"group", AttributeKind::Int, int64_t{1}},
      {"kernel_shape", AttributeKind::Ints}, {"offset_group", AttributeKind::Int, int64_t{1}},
      {"pads", AttributeKind::Ints},         {"strides", AttributeKind::Ints}};
  entry.requirements = requirements();
  entry.build = build;
  table.add({19, 22}, std::move(entry));
}

} // namespace sluice::frontend::ops
