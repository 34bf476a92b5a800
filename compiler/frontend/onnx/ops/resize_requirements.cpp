// What versions of Resize and Upsample require, and the axes as they then are.
#include "compiler/frontend/onnx/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace sluice::frontend::ops::resizing {
namespace {

bool hasValues(const NodeView &node, int input) {
  return input >= 0 && node.has(input) && node.in(input).known->size() > 0;
}

/// The axes that scales and sizes are of, counted from the front.
std::vector<int64_t> resizedAxes(const NodeView &node) {
  std::vector<int64_t> axes(node.in(0).rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (node.given("axes")) {
    axes = node.integers("axes");
    for (int64_t &axis : axes)
      axis = node.axis(axis, node.in(0).rank());
  }
  return axes;
}

std::vector<float> scalesOf(const NodeView &node, const Inputs &inputs) {
  if (node.given("scales"))
    return node.attribute<std::vector<float>>("scales");
  if (node.given("height_scale"))
    return {1, 1, node.real("height_scale"), node.real("width_scale")};
  return hasValues(node, inputs.scales) ? node.in(inputs.scales).known->floats
                                        : std::vector<float>{};
}

/// An extent, no further from those of tensors than it takes to be none.
int64_t extentOf(double length) {
  return static_cast<int64_t>(std::floor(std::clamp(length, -1.0, 2.0 * kMaxElements)));
}

} // namespace

std::string text(const NodeView &node, const char *name, const char *otherwise) {
  return node.given(name) ? node.attribute<std::string>(name) : otherwise;
}

std::string modeOf(const NodeView &node) { return text(node, "mode", "nearest"); }

std::string coordinates(const NodeView &node) {
  return text(node, "coordinate_transformation_mode", "asymmetric");
}

std::vector<Axis> axesOf(const NodeView &node, const Inputs &inputs) {
  std::vector<Axis> out;
  for (const int64_t extent : node.in(0).shape)
    out.push_back({extent, extent, 1, 0, 1});
  const std::vector<int64_t> axes = resizedAxes(node);
  const std::vector<float> scales = scalesOf(node, inputs);
  const std::string policy = text(node, "keep_aspect_ratio_policy", "stretch");
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis &axis = out[axes[i]];
    if (hasValues(node, inputs.roi)) {
      const std::vector<float> &roi = node.in(inputs.roi).known->floats;
      axis.start = roi[i];
      axis.end = roi[axes.size() + i];
    }
    if (!scales.empty()) {
      axis.scale = scales[i];
      const double length = coordinates(node) == "tf_crop_and_resize"
                                ? static_cast<double>(axis.from) * (axis.end - axis.start)
                                : static_cast<double>(axis.from);
      axis.to = extentOf(length * axis.scale);
      continue;
    }
    axis.to = node.knownInts(inputs.sizes)[i];
    axis.scale = static_cast<double>(axis.to) / static_cast<double>(axis.from);
    const bool smaller = policy == "not_larger";
    common = common == 0 ? axis.scale
             : smaller   ? std::min(common, axis.scale)
                         : std::max(common, axis.scale);
  }
  if (scales.empty() && policy != "stretch")
    for (const int64_t i : axes) {
      out[i].scale = common;
      out[i].to = extentOf(static_cast<double>(out[i].from) * common + 0.5);
    }
  return out;
}

Requirement oneOf(const char *name, const char *otherwise, std::vector<std::string> allowed) {
  return {fmt::format("attribute '{}' must be {}", name, alternatives(allowed)),
          [name, otherwise, allowed](const NodeView &node) -> std::string {
            const std::string found = text(node, name, otherwise);
            return std::find(allowed.begin(), allowed.end(), found) == allowed.end()
                       ? inQuotes(found)
                       : "";
          },
          kShapes};
}

Requirement axesFit() {
  return {"attribute 'axes' must be distinct axes of 'X'",
          [](const NodeView &node) -> std::string {
            return node.given("axes") ? axesProblem(node.integers("axes"), node.in(0).rank()) : "";
          },
          kShapes};
}

Requirement scalesArePositive(const char *names, const Inputs &inputs) {
  return {fmt::format("{} must be finite and above 0", names),
          [inputs](const NodeView &node) -> std::string {
            for (const float scale : scalesOf(node, inputs))
              if (!(scale > 0) || !std::isfinite(scale))
                return fmt::format("{}", scale);
            return "";
          },
          kShapes};
}

std::vector<Requirement> scaleRequirements(const Inputs &inputs) {
  return {{"'scales' must have one element per axis of 'X'",
           [inputs](const NodeView &node) -> std::string {
             const auto scales = static_cast<int64_t>(scalesOf(node, inputs).size());
             const int64_t rank = node.in(0).rank();
             return scales == rank ? "" : fmt::format("{} for {} axes", scales, rank);
           },
           kShapes},
          scalesArePositive("'scales'", inputs)};
}

Requirement resultFits(const Inputs &inputs) {
  return {fmt::format("the result must have extents of at least 1 and at most {} elements",
                      kMaxElements),
          [inputs](const NodeView &node) -> std::string {
            Shape shape;
            for (const Axis &axis : axesOf(node, inputs))
              shape.push_back(axis.to);
            return elementCount(shape, kMaxElements) > 0 ? "" : shapeText(shape);
          },
          kShapes};
}

std::vector<Requirement> sizeRequirements(const Inputs &inputs) {
  return {{"either 'scales' or 'sizes' must be given, with one element per resized axis",
           [inputs](const NodeView &node) -> std::string {
             const size_t axes = resizedAxes(node).size(), scales = scalesOf(node, inputs).size();
             const size_t sizes =
                 hasValues(node, inputs.sizes) ? node.knownInts(inputs.sizes).size() : 0;
             return (scales == axes && sizes == 0) || (scales == 0 && sizes == axes)
                        ? ""
                        : fmt::format("{} scales and {} sizes for {} axes", scales, sizes, axes);
           },
           kShapes},
          {"'scales' must be finite and above 0, and 'sizes' at least 1",
           [inputs](const NodeView &node) -> std::string {
             for (const float scale : scalesOf(node, inputs))
               if (!(scale > 0) || !std::isfinite(scale))
                 return fmt::format("{}", scale);
             if (hasValues(node, inputs.sizes))
               for (const int64_t size : node.knownInts(inputs.sizes))
                 if (size < 1)
                   return fmt::format("{}", size);
             return "";
           },
           kShapes},
          {"'roi' must have two elements per resized axis; only 'tf_crop_and_resize' requires it",
           [inputs](const NodeView &node) -> std::string {
             const size_t axes = resizedAxes(node).size();
             const int64_t count =
                 hasValues(node, inputs.roi) ? node.in(inputs.roi).known->size() : 0;
             const bool needed = coordinates(node) == "tf_crop_and_resize";
             return count == static_cast<int64_t>(2 * axes) || (count == 0 && !needed)
                        ? ""
                        : fmt::format("{} for {} axes", count, axes);
           },
           kShapes},
          {"'roi' must be finite with 'tf_crop_and_resize'",
           [inputs](const NodeView &node) -> std::string {
             if (coordinates(node) != "tf_crop_and_resize")
               return "";
             for (const float end : node.in(inputs.roi).known->floats)
               if (!std::isfinite(end))
                 return fmt::format("{}", end);
             return "";
           },
           kShapes}};
}

Requirement selectsIntegers() {
  return {"integers and bools must be resized with mode 'nearest'",
          [](const NodeView &node) -> std::string {
            return isFloatType(node.in(0).type) || modeOf(node) == "nearest"
                       ? ""
                       : fmt::format("{} with '{}'", dataTypeName(node.in(0).type), modeOf(node));
          }};
}

Requirement selectsIntegersInside() {
  return {
      "integers and bools must be resized with mode 'nearest', and without 'tf_crop_and_resize'",
      [](const NodeView &node) -> std::string {
        const bool selects = modeOf(node) == "nearest" && coordinates(node) != "tf_crop_and_resize";
        return isFloatType(node.in(0).type) || selects
                   ? ""
                   : fmt::format("{} with '{}' and '{}'", dataTypeName(node.in(0).type),
                                 modeOf(node), coordinates(node));
      }};
}

} // namespace sluice::frontend::ops::resizing
