// Resize and Upsample with scales or sizes known at import: along every axis on its own a
// selection (nearest) or a product with the weights of the neighbours (linear, cubic).
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

/// Most weights along an axis.
constexpr int64_t kMostWeights = int64_t{1} << 26;

/// How one axis is resized.
struct Axis {
  int64_t from = 1, to = 1;
  double scale = 1;
  double start = 0, end = 1; ///< the part of the input that tf_crop_and_resize takes
};

std::string text(const NodeView &node, const char *name, const char *otherwise) {
  return node.given(name) ? node.attribute<std::string>(name) : otherwise;
}

bool flag(const NodeView &node, const char *name) {
  return node.given(name) && node.integer(name) != 0;
}

std::string modeOf(const NodeView &node) { return text(node, "mode", "nearest"); }

std::string coordinates(const NodeView &node) {
  return text(node, "coordinate_transformation_mode", "asymmetric");
}

/// Which inputs of a version are what; -1: it has none.
struct Inputs {
  int roi = -1, scales = -1, sizes = -1;
};

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

/// Every axis; 'scales' and 'sizes' are checked.
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

/// Where element `at` of the result lies in the input.
double coordinate(const Axis &axis, const std::string &mode, int64_t at) {
  const auto x = static_cast<double>(at), from = static_cast<double>(axis.from),
             to = static_cast<double>(axis.to), length = from * axis.scale;
  if (mode == "asymmetric")
    return x / axis.scale;
  if (mode == "align_corners")
    return length == 1 ? 0 : x * (from - 1) / (length - 1);
  if (mode == "pytorch_half_pixel")
    return length <= 1 ? 0 : (x + 0.5) / axis.scale - 0.5;
  if (mode == "tf_half_pixel_for_nn")
    return (x + 0.5) / axis.scale;
  if (mode == "tf_crop_and_resize") {
    const double at =
        to > 1 ? axis.start * (from - 1) + x * (axis.end - axis.start) * (from - 1) / (to - 1)
               : 0.5 * (axis.start + axis.end) * (from - 1);
    return std::clamp(at, -1.0, from); // how far outside does not matter
  }
  double half = (x + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel_symmetric") {
    const double center = from / 2;
    half += center * (1 - to / length);
  }
  return half;
}

int64_t rounded(double x, const std::string &mode) {
  if (mode == "floor")
    return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil")
    return static_cast<int64_t>(std::ceil(x));
  if (mode == "round_prefer_ceil")
    return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

double cubic(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// The weights of neighbours at whole distances from `x`, and the first of them.
std::vector<double> weightsAt(const NodeView &node, const Axis &axis, double x, int64_t &first) {
  const bool isCubic = modeOf(node) == "cubic";
  const double a = node.given("cubic_coeff_a") ? node.real("cubic_coeff_a") : -0.75;
  const bool smooth = flag(node, "antialias") && axis.scale < 1;
  const double stretch = smooth ? axis.scale : 1;
  const double reach = (isCubic ? 2 : 1) / stretch;
  first = static_cast<int64_t>(std::floor(x - reach)) + 1;
  const auto last = static_cast<int64_t>(std::ceil(x + reach)) - 1;
  std::vector<double> weights;
  double total = 0;
  for (int64_t at = first; at <= std::max(last, first); ++at) {
    const double distance = (static_cast<double>(at) - x) * stretch;
    const bool inside = at >= 0 && at < axis.from;
    double weight = isCubic ? cubic(distance, a) : std::max(0.0, 1 - std::abs(distance));
    if (flag(node, "exclude_outside") && !inside)
      weight = 0;
    weights.push_back(weight);
    total += weight;
  }
  if (smooth || flag(node, "exclude_outside"))
    for (double &weight : weights)
      weight /= total;
  return weights;
}

Tensor nearest(NodeBuilder &node, const Tensor &x, int64_t at, const Axis &axis) {
  std::vector<int64_t> indices;
  const std::string mode = coordinates(node);
  for (int64_t i = 0; i < axis.to; ++i)
    indices.push_back(std::clamp<int64_t>(
        rounded(coordinate(axis, mode, i), text(node, "nearest_mode", "floor")), 0, axis.from - 1));
  return gathered(node.emit, x, indices, at);
}

/// The product with a banded matrix [to, from].
Tensor weighted(NodeBuilder &node, const Tensor &x, int64_t at, const Axis &axis) {
  if (elementCount({axis.to, axis.from}, kMostWeights) < 0)
    throw NodeError{"E0205", fmt::format("axis {} has {} elements and {} after it, more than {} "
                                         "weights",
                                         at, axis.from, axis.to, kMostWeights)};
  std::vector<float> matrix(axis.to * axis.from, 0.0F);
  for (int64_t i = 0; i < axis.to; ++i) {
    int64_t first = 0;
    const std::vector<double> weights =
        weightsAt(node, axis, coordinate(axis, coordinates(node), i), first);
    for (size_t k = 0; k < weights.size(); ++k) {
      const int64_t source = std::clamp<int64_t>(first + static_cast<int64_t>(k), 0, axis.from - 1);
      matrix[i * axis.from + source] += static_cast<float>(weights[k]);
    }
  }
  const auto place = static_cast<size_t>(at), loops = x.shape.size() + 1;
  std::vector<size_t> lhs(x.shape.size()), result;
  std::iota(lhs.begin(), lhs.end(), 0);
  result = lhs;
  lhs[place] = loops - 1;
  return node.emit.contract(
      loops, {lhs, {place, loops - 1}, result}, x,
      Tensor::ofKnown(HostTensor::ofFloats({axis.to, axis.from}, std::move(matrix))));
}

/// The places along an axis whose coordinate is outside the input.
std::vector<bool> outsideOf(const Axis &axis) {
  std::vector<bool> out;
  for (int64_t i = 0; i < axis.to; ++i) {
    const double x = coordinate(axis, "tf_crop_and_resize", i);
    out.push_back(x < 0 || x > static_cast<double>(axis.from - 1));
  }
  return out;
}

/// tf_crop_and_resize: what lies outside the input along any axis is one number.
Tensor extrapolated(NodeBuilder &node, Tensor x, const std::vector<Axis> &axes) {
  const float value = node.real("extrapolation_value");
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::vector<bool> outside = outsideOf(axes[i]);
    if (std::find(outside.begin(), outside.end(), true) == outside.end())
      continue;
    Shape shape(axes.size() - i, 1);
    shape[0] = axes[i].to;
    const Tensor chosen =
        mask(shape, [&](int64_t flat) { return outside[static_cast<size_t>(flat)]; });
    x = node.emit.pointwise({x, chosen}, [value](const Scalars &s, mlir::ValueRange v) {
      const mlir::Value test =
          s.make<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNE, v[1], s.constant(0));
      return s.make<mlir::arith::SelectOp>(test, s.constant(value), v[0]);
    });
  }
  return x;
}

Requirement oneOf(const char *name, const char *otherwise, std::vector<std::string> allowed) {
  return {fmt::format("attribute '{}' is {}", name, alternatives(allowed)),
          [name, otherwise, allowed](const NodeView &node) -> std::string {
            const std::string found = text(node, name, otherwise);
            return std::find(allowed.begin(), allowed.end(), found) == allowed.end()
                       ? inQuotes(found)
                       : "";
          },
          "E0206"};
}

std::vector<Requirement> sizeRequirements(const Inputs &inputs) {
  return {
      {"attribute 'axes' are distinct axes of 'X'",
       [](const NodeView &node) -> std::string {
         return node.given("axes") ? axesProblem(node.integers("axes"), node.in(0).rank()) : "";
       },
       "E0206"},
      {"exactly one of 'scales' and 'sizes' is given, with one element per resized axis",
       [inputs](const NodeView &node) -> std::string {
         const size_t axes = resizedAxes(node).size(), scales = scalesOf(node, inputs).size();
         const size_t sizes =
             hasValues(node, inputs.sizes) ? node.knownInts(inputs.sizes).size() : 0;
         return (scales == axes && sizes == 0) || (scales == 0 && sizes == axes)
                    ? ""
                    : fmt::format("{} and {} for {} axes", scales, sizes, axes);
       },
       "E0206"},
      {"'scales' are above 0, and 'sizes' at least 1",
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
       "E0206"},
      {"'roi', if given, has two elements per resized axis, and is given where the coordinates are "
       "'tf_crop_and_resize'",
       [inputs](const NodeView &node) -> std::string {
         const size_t axes = resizedAxes(node).size();
         const int64_t count = hasValues(node, inputs.roi) ? node.in(inputs.roi).known->size() : 0;
         const bool needed = coordinates(node) == "tf_crop_and_resize";
         return count == static_cast<int64_t>(2 * axes) || (count == 0 && !needed)
                    ? ""
                    : fmt::format("{} for {} axes", count, axes);
       },
       "E0206"},
      {"with 'tf_crop_and_resize' the region is finite",
       [inputs](const NodeView &node) -> std::string {
         if (coordinates(node) != "tf_crop_and_resize")
           return "";
         for (const float end : node.in(inputs.roi).known->floats)
           if (!std::isfinite(end))
             return fmt::format("{}", end);
         return "";
       },
       "E0206"},
      {fmt::format("every extent of the result is at least 1, and it has at most {} elements",
                   kMaxElements),
       [inputs](const NodeView &node) -> std::string {
         Shape shape;
         for (const Axis &axis : axesOf(node, inputs))
           shape.push_back(axis.to);
         return elementCount(shape, kMaxElements) > 0 ? "" : shapeText(shape);
       },
       "E0206"}};
}

Operator resize(const char *name, const Inputs &inputs, std::vector<std::string> modes) {
  Operator entry;
  entry.name = name;
  entry.form = "along every axis slices and concat (nearest), or a contraction with the weights of "
               "the neighbours (linear, cubic)";
  entry.inputs = {{"X", Types::Any}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"mode", AttributeKind::String, std::string("nearest")}};
  entry.requirements = {oneOf("mode", "nearest", std::move(modes))};
  entry.requirements.push_back(
      {"integers and bools are resized by mode 'nearest', and not by 'tf_crop_and_resize'",
       [](const NodeView &node) -> std::string {
         const bool selects =
             modeOf(node) == "nearest" && coordinates(node) != "tf_crop_and_resize";
         return isFloatType(node.in(0).type) || selects
                    ? ""
                    : fmt::format("{} by '{}' and '{}'", dataTypeName(node.in(0).type),
                                  modeOf(node), coordinates(node));
       }});
  for (Requirement &one : sizeRequirements(inputs))
    entry.requirements.push_back(std::move(one));
  entry.build = [inputs](NodeBuilder &node) {
    Tensor x = node.in(0);
    const std::vector<Axis> axes = axesOf(node, inputs);
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const bool same = axes[i].from == axes[i].to && axes[i].scale == 1 && axes[i].start == 0 &&
                        axes[i].end == 1;
      if (same)
        continue;
      x = modeOf(node) == "nearest" ? nearest(node, x, at, axes[i])
                                    : weighted(node, x, at, axes[i]);
    }
    if (coordinates(node) == "tf_crop_and_resize")
      x = extrapolated(node, std::move(x), axes);
    node.result(std::move(x));
  };
  return entry;
}

InputSpec known(const char *name, Types types, Presence presence) {
  return {name, types, presence, true};
}

/// Opsets 11 on; the region may be left out from 13 on, antialiasing comes with 18.
Operator resizeWithCoordinates(bool isFirst, bool antialiases) {
  Operator entry = resize("Resize", {1, 2, 3}, {"nearest", "linear", "cubic"});
  const Presence presence = isFirst ? Presence::Required : Presence::Optional;
  entry.inputs.push_back(known("roi", Types::Float, presence));
  entry.inputs.push_back(known("scales", Types::Float, presence));
  entry.inputs.push_back(known("sizes", Types::Integer, Presence::Optional));
  std::vector<std::string> places = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                     "asymmetric", "tf_crop_and_resize"};
  places.push_back(isFirst ? "tf_half_pixel_for_nn" : "half_pixel_symmetric");
  entry.attributes.push_back(
      {"coordinate_transformation_mode", AttributeKind::String, std::string("half_pixel")});
  entry.attributes.push_back({"cubic_coeff_a", AttributeKind::Float, -0.75F});
  entry.attributes.push_back({"exclude_outside", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  entry.attributes.push_back({"extrapolation_value", AttributeKind::Float, 0.0F});
  entry.attributes.push_back(
      {"nearest_mode", AttributeKind::String, std::string("round_prefer_floor")});
  entry.requirements.insert(entry.requirements.begin() + 1,
                            {oneOf("coordinate_transformation_mode", "half_pixel", places),
                             oneOf("nearest_mode", "round_prefer_floor",
                                   {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})});
  if (antialiases) {
    entry.attributes.push_back({"antialias", AttributeKind::Int, int64_t{0}, false, {0, 1}});
    entry.attributes.push_back({"axes", AttributeKind::Ints});
    entry.attributes.push_back(
        {"keep_aspect_ratio_policy", AttributeKind::String, std::string("stretch")});
    entry.requirements.insert(
        entry.requirements.begin() + 3,
        oneOf("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"}));
  }
  return entry;
}

} // namespace

void addResize(OperatorTable &table) {
  Operator first = resize("Upsample", {}, {"nearest", "bilinear"});
  first.attributes.push_back({"height_scale", AttributeKind::Float, std::nullopt, true});
  first.attributes.push_back({"width_scale", AttributeKind::Float, std::nullopt, true});
  table.add({1}, first);
  Operator listed = resize("Upsample", {}, {"nearest", "linear"});
  listed.attributes.push_back({"scales", AttributeKind::Floats, std::nullopt, true});
  table.add({7}, listed);
  Operator given = resize("Upsample", {.scales = 1}, {"nearest", "linear"});
  given.inputs.push_back(known("scales", Types::Float, Presence::Required));
  table.add({9}, given);
  given.name = "Resize";
  table.add({10}, given);
  table.add({11}, resizeWithCoordinates(true, false));
  table.add({13}, resizeWithCoordinates(false, false));
  table.add({18, 19}, resizeWithCoordinates(false, true));
}

} // namespace sluice::frontend::ops
