// RoiAlign with regions known at import: the mean of samples in every bin of a region is a product
// with constant weights.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

/// Most samples along an axis of a region.
constexpr double kMostSamples = 1 << 20;

enum RoiInput : size_t { kImages, kRegions, kBatches };

/// One axis of a region.
struct Span {
  double start = 0, length = 0;
  int64_t bins = 1, samples = 1; ///< samples of a bin
};

bool isHalfPixel(const NodeView &node) {
  return node.given("coordinate_transformation_mode") &&
         node.attribute<std::string>("coordinate_transformation_mode") == "half_pixel";
}

/// Axis 0 goes down, axis 1 to the right; a region is given as x, y, x, y.
Span spanOf(const NodeView &node, int64_t region, int axis) {
  const std::vector<float> &regions = node.in(kRegions).known->floats;
  const double scale = node.real("spatial_scale"), offset = isHalfPixel(node) ? 0.5 : 0;
  const double start = regions[4 * region + 1 - axis] * scale - offset;
  const double end = regions[4 * region + 3 - axis] * scale - offset;
  Span out{start, end - start, node.integer(axis == 0 ? "output_height" : "output_width"),
           node.integer("sampling_ratio")};
  if (!isHalfPixel(node))
    out.length = std::max(out.length, 1.0);
  if (out.samples == 0)
    out.samples = static_cast<int64_t>(
        std::clamp(std::ceil(out.length / static_cast<double>(out.bins)), 0.0, kMostSamples));
  return out;
}

/// [bins, extent]: the weights of an axis for the mean of a bin's samples.
std::vector<double> weightsOf(const Span &span, int64_t extent) {
  std::vector<double> out(span.bins * extent, 0.0);
  const auto last = static_cast<double>(extent - 1);
  const auto samples = static_cast<double>(span.samples);
  const double bin = span.length / static_cast<double>(span.bins);
  for (int64_t i = 0; i < span.bins; ++i)
    for (int64_t k = 0; k < span.samples; ++k) {
      const double at = span.start + static_cast<double>(i) * bin +
                        (static_cast<double>(k) + 0.5) * bin / samples;
      if (!(at >= -1 && at <= last + 1))
        continue; // a sample that far outside is 0
      const double inside = std::clamp(at, 0.0, last);
      const auto low = static_cast<int64_t>(inside);
      const double part = inside - static_cast<double>(low);
      out[i * extent + low] += (1 - part) / samples;
      if (part > 0)
        out[i * extent + low + 1] += part / samples;
    }
  return out;
}

/// What the regions of one image give: [regions, channels, height, width].
Tensor ofImage(NodeBuilder &node, int64_t image, const std::vector<int64_t> &regions) {
  const Shape &shape = node.in(kImages).shape;
  const int64_t height = shape[2], width = shape[3];
  const int64_t rows = node.integer("output_height"), columns = node.integer("output_width");
  std::vector<float> weights;
  for (const int64_t region : regions) {
    const std::vector<double> down = weightsOf(spanOf(node, region, 0), height);
    const std::vector<double> right = weightsOf(spanOf(node, region, 1), width);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        for (int64_t y = 0; y < height; ++y)
          for (int64_t x = 0; x < width; ++x)
            weights.push_back(
                static_cast<float>(down[row * height + y] * right[column * width + x]));
  }
  const auto count = static_cast<int64_t>(regions.size());
  const Tensor pixels = node.emit.reshape(sliceAlong(node.emit, node.in(kImages), 0, image, 1),
                                          {shape[1], height * width});
  const Tensor factors = Tensor::ofKnown(
      HostTensor::ofFloats({count * rows * columns, height * width}, std::move(weights)));
  // Loops: channel, bin, pixel.
  const Tensor bins = node.emit.contract(3, {{0, 2}, {1, 2}, {1, 0}}, pixels, factors);
  const Tensor separate = node.emit.reshape(bins, {count, rows, columns, shape[1]});
  return node.emit.transpose(separate, {0, 3, 1, 2});
}

void buildRoiAlign(NodeBuilder &node) {
  std::map<int64_t, std::vector<int64_t>> regionsOf; // by image
  const std::vector<int64_t> &batches = node.knownInts(kBatches);
  for (size_t region = 0; region < batches.size(); ++region)
    regionsOf[batches[region]].push_back(static_cast<int64_t>(region));
  std::vector<Tensor> parts;
  std::vector<int64_t> placeOf(batches.size()); // of a region, in the parts
  int64_t place = 0;
  for (const auto &[image, regions] : regionsOf) {
    parts.push_back(ofImage(node, image, regions));
    for (const int64_t region : regions)
      placeOf[region] = place++;
  }
  const Tensor all = parts.size() == 1 ? parts[0] : node.emit.concat(parts, 0);
  node.result(gathered(node.emit, all, placeOf, 0));
}

Operator roiAlign(bool hasCoordinates) {
  Operator entry;
  entry.name = "RoiAlign";
  entry.form = "contract with the weights of the samples; concat for several images";
  entry.inputs = {{"X"},
                  {"rois", Types::Float, Presence::Required, true},
                  {"batch_indices", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"mode", AttributeKind::String, std::string("avg")},
                      {"output_height", AttributeKind::Int, int64_t{1}},
                      {"output_width", AttributeKind::Int, int64_t{1}},
                      {"sampling_ratio", AttributeKind::Int, int64_t{0}},
                      {"spatial_scale", AttributeKind::Float, 1.0F}};
  if (hasCoordinates)
    entry.attributes.push_back(
        {"coordinate_transformation_mode", AttributeKind::String, std::string("half_pixel")});
  entry.requirements = {
      {"attribute 'mode' must be 'avg'",
       [](const NodeView &node) -> std::string {
         const auto &mode = node.attribute<std::string>("mode");
         return mode == "avg" ? "" : inQuotes(mode);
       }},
      {"attribute 'coordinate_transformation_mode' must be 'half_pixel' or 'output_half_pixel'",
       [](const NodeView &node) -> std::string {
         if (!node.given("coordinate_transformation_mode"))
           return "";
         const auto &mode = node.attribute<std::string>("coordinate_transformation_mode");
         return mode == "half_pixel" || mode == "output_half_pixel" ? "" : inQuotes(mode);
       },
       kShapes},
      {"'X' must have rank 4, 'rois' the shape [regions 4] and 'batch_indices' the shape "
       "[regions], for 1 region or more",
       [](const NodeView &node) -> std::string {
         const Shape &regions = node.in(kRegions).shape, &batches = node.in(kBatches).shape;
         const bool fits = node.in(kImages).rank() == 4 && batches.size() == 1 && batches[0] > 0 &&
                           regions == Shape{batches[0], 4};
         return fits ? "" : inputShapes(node);
       },
       kShapes},
      {"'batch_indices' must be in [0, batch-1] of 'X', and 'rois' must be finite",
       [](const NodeView &node) -> std::string {
         const int64_t batch = node.in(kImages).shape[0];
         for (const int64_t image : node.knownInts(kBatches))
           if (image < 0 || image >= batch)
             return fmt::format("{} for batch {}", image, batch);
         for (const float value : node.in(kRegions).known->floats)
           if (!std::isfinite(value))
             return fmt::format("{}", value);
         return "";
       },
       kShapes},
      {"'output_height' and 'output_width' must be at least 1, 'sampling_ratio' in [0, 1048576], "
       "and 'spatial_scale' finite",
       [](const NodeView &node) -> std::string {
         const int64_t height = node.integer("output_height"), width = node.integer("output_width"),
                       ratio = node.integer("sampling_ratio");
         return height >= 1 && width >= 1 && ratio >= 0 &&
                        static_cast<double>(ratio) <= kMostSamples &&
                        std::isfinite(node.real("spatial_scale"))
                    ? ""
                    : fmt::format("{}, {}, {} and {}", height, width, ratio,
                                  node.real("spatial_scale"));
       },
       kShapes},
      {fmt::format("there must be at most {} weights: pixels of an image times bins of the regions",
                   kMostWeights),
       [](const NodeView &node) -> std::string {
         const Shape &x = node.in(kImages).shape;
         const Shape all = {node.in(kBatches).shape[0], node.integer("output_height"),
                            node.integer("output_width"), x[2], x[3]};
         return elementCount(all, kMostWeights) >= 0 ? "" : shapeText(all);
       }},
      {fmt::format("the bins of all regions must have at most {} samples along an axis",
                   kMostWeights),
       [](const NodeView &node) -> std::string {
         for (const int axis : {0, 1}) {
           double samples = 0;
           for (int64_t region = 0; region < node.in(kBatches).shape[0]; ++region) {
             const Span span = spanOf(node, region, axis);
             samples += static_cast<double>(span.bins) * static_cast<double>(span.samples);
           }
           if (samples > static_cast<double>(kMostWeights))
             return fmt::format("{}", samples);
         }
         return "";
       },
       kShapes}};
  entry.build = buildRoiAlign;
  return entry;
}

} // namespace

void addRoiAlign(OperatorTable &table) {
  table.add({10}, roiAlign(false));
  table.add({16, 22}, roiAlign(true));
}

} // namespace sluice::frontend::ops
