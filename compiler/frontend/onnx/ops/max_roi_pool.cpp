// MaxRoiPool with regions known at import: the bins of a region are slices, and their maximum.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Most slices.
constexpr int64_t kMostBins = 1 << 16;
/// Below any number.
constexpr double kFarthest = 1e9;

enum RoiInput : size_t { kImages, kRegions };

/// Elements [first, end) of an axis.
struct Bin {
  int64_t first = 0, end = 0;
};

/// Axis 0 goes down, axis 1 to the right; a region is given as image, x, y, x, y.
std::vector<Bin> binsOf(const NodeView &node, int64_t region, int axis) {
  const std::vector<float> &numbers = node.in(kRegions).known->floats;
  const float scale = node.real("spatial_scale");
  const auto edge = [&](int64_t which) {
    const double at = std::round(numbers[5 * region + which] * scale);
    return static_cast<int64_t>(std::clamp(at, -kFarthest, kFarthest));
  };
  const int64_t start = edge(2 - axis), last = edge(4 - axis);
  const int64_t count = node.integers("pooled_shape")[axis];
  const int64_t extent = node.in(kImages).shape[2 + axis];
  const auto size =
      static_cast<float>(std::max<int64_t>(last - start + 1, 1)) / static_cast<float>(count);
  std::vector<Bin> out;
  for (int64_t i = 0; i < count; ++i) {
    const auto from = static_cast<int64_t>(std::floor(static_cast<float>(i) * size));
    const auto to = static_cast<int64_t>(std::ceil(static_cast<float>(i + 1) * size));
    out.push_back(
        {std::clamp<int64_t>(start + from, 0, extent), std::clamp<int64_t>(start + to, 0, extent)});
  }
  return out;
}

/// The maximum of each bin along an axis, 0 where it has no elements.
Tensor pooled(Emitter &emit, const Tensor &x, int64_t axis, const std::vector<Bin> &bins) {
  std::vector<Tensor> parts;
  for (const Bin &bin : bins) {
    if (bin.first < bin.end) {
      const Tensor seen = sliceAlong(emit, x, axis, bin.first, bin.end - bin.first);
      parts.push_back(emit.reduce(ir::Monoid::Max, seen, {axis}, true));
      continue;
    }
    HostTensor zero = HostTensor::ofFloats(Shape(x.shape.size(), 1), {0});
    zero.type = x.type;
    Shape shape = x.shape;
    shape[axis] = 1;
    parts.push_back(emit.broadcast(Tensor::ofKnown(std::move(zero)), shape));
  }
  return emit.concat(parts, axis);
}

int64_t imageOf(const NodeView &node, int64_t region) {
  return static_cast<int64_t>(node.in(kRegions).known->floats[5 * region]);
}

void build(NodeBuilder &node) {
  std::vector<Tensor> parts;
  for (int64_t region = 0; region < node.in(kRegions).shape[0]; ++region) {
    const Tensor image = sliceAlong(node.emit, node.in(kImages), 0, imageOf(node, region), 1);
    const Tensor rows = pooled(node.emit, image, 2, binsOf(node, region, 0));
    parts.push_back(pooled(node.emit, rows, 3, binsOf(node, region, 1)));
  }
  node.result(node.emit.concat(parts, 0));
}

std::vector<Requirement> requirements() {
  return {
      {"input 'X' must have rank 4, and 'rois' must be [regions 5] with at least one region",
       [](const NodeView &node) -> std::string {
         const Shape &regions = node.in(kRegions).shape;
         const bool fits = node.in(kImages).rank() == 4 && regions.size() == 2 && regions[0] >= 1 &&
                           regions[1] == 5;
         return fits ? "" : inputShapes(node);
       },
       kShapes},
      {"'rois' must be finite, and each must start with an image index in [0, batch-1] of 'X'",
       [](const NodeView &node) -> std::string {
         const std::vector<float> &numbers = node.in(kRegions).known->floats;
         const auto batch = static_cast<float>(node.in(kImages).shape[0]);
         for (size_t i = 0; i < numbers.size(); ++i) {
           if (!std::isfinite(numbers[i]))
             return fmt::format("{}", numbers[i]);
           if (i % 5 == 0 && !(numbers[i] >= 0 && numbers[i] < batch))
             return fmt::format("{} for batch {}", numbers[i], node.in(kImages).shape[0]);
         }
         return "";
       },
       kShapes},
      {"'pooled_shape' must have two elements of at least 1, and 'spatial_scale' must be finite",
       [](const NodeView &node) -> std::string {
         const std::vector<int64_t> &shape = node.integers("pooled_shape");
         const bool fits = shape.size() == 2 && shape[0] >= 1 && shape[1] >= 1 &&
                           std::isfinite(node.real("spatial_scale"));
         return fits ? "" : fmt::format("{} and {}", shapeText(shape), node.real("spatial_scale"));
       },
       kShapes},
      {fmt::format("there must be at most {} bins", kMostBins),
       [](const NodeView &node) -> std::string {
         Shape all = node.integers("pooled_shape");
         all.push_back(node.in(kRegions).shape[0]);
         return elementCount(all, kMostBins) >= 0 ? "" : shapeText(all);
       }}};
}

} // namespace

void addMaxRoiPool(OperatorTable &table) {
  Operator entry;
  entry.name = "MaxRoiPool";
  entry.form = "per bin of a region a slice, then reduce max; concat";
  entry.inputs = {{"X"}, {"rois", Types::Float, Presence::Required, true}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"pooled_shape", AttributeKind::Ints, std::nullopt, true},
                      {"spatial_scale", AttributeKind::Float, 1.0F}};
  entry.requirements = requirements();
  entry.build = build;
  table.add({1, 22}, std::move(entry));
}

} // namespace sluice::frontend::ops
