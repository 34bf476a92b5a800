// Resize and Upsample with scales or sizes known at import: along every axis on its own a
// selection (nearest) or a product with the weights of the neighbours (linear, cubic).
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/resize.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

using namespace resizing;

bool flag(const NodeView &node, const char *name) {
  return node.given(name) && node.integer(name) != 0;
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
    throw NodeError{kNotSupported,
                    fmt::format("axis {} needs {} times {} interpolation weights, more than {}", at,
                                axis.from, axis.to, kMostWeights)};
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

void append(std::vector<Requirement> &to, std::vector<Requirement> more) {
  for (Requirement &one : more)
    to.push_back(std::move(one));
}

/// What all versions share: without what they require but of the mode.
Operator resize(const char *name, const Inputs &inputs, std::vector<std::string> modes) {
  Operator entry;
  entry.name = name;
  entry.form = "per axis slices and concat (nearest), or a contraction with the interpolation "
               "weights (linear, cubic)";
  entry.inputs = {{"X", Types::Any}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"mode", AttributeKind::String, std::string("nearest")}};
  entry.requirements = {oneOf("mode", "nearest", std::move(modes))};
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

/// Upsample of opset 1: images, with a scale each for height and width.
Operator upsampledImage() {
  Operator entry = resize("Upsample", {}, {"nearest", "bilinear"});
  entry.attributes.push_back({"height_scale", AttributeKind::Float, std::nullopt, true});
  entry.attributes.push_back({"width_scale", AttributeKind::Float, std::nullopt, true});
  append(entry.requirements, {selectsIntegers(),
                              {"input 'X' must have rank 4: batch, channels, height and width",
                               [](const NodeView &node) -> std::string {
                                 return node.in(0).rank() == 4 ? "" : shapeText(node.in(0).shape);
                               },
                               kShapes},
                              scalesArePositive("attributes 'height_scale' and 'width_scale'", {}),
                              resultFits({})});
  return entry;
}

/// Upsample of opsets 7 to 9 and Resize of opset 10.
Operator byScales(const char *name, const Inputs &inputs) {
  Operator entry = resize(name, inputs, {"nearest", "linear"});
  entry.requirements.push_back(selectsIntegers());
  append(entry.requirements, scaleRequirements(inputs));
  entry.requirements.push_back(resultFits(inputs));
  return entry;
}

/// Opsets 11 on; the region may be left out from 13 on, antialiasing comes with 18.
Operator resizeWithCoordinates(bool isFirst, bool antialiases) {
  constexpr Inputs kInputs = {.roi = 1, .scales = 2, .sizes = 3};
  Operator entry = resize("Resize", kInputs, {"nearest", "linear", "cubic"});
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
  append(entry.requirements, {oneOf("coordinate_transformation_mode", "half_pixel", places),
                              oneOf("nearest_mode", "round_prefer_floor",
                                    {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})});
  if (antialiases) {
    entry.attributes.push_back({"antialias", AttributeKind::Int, int64_t{0}, false, {0, 1}});
    entry.attributes.push_back({"axes", AttributeKind::Ints});
    entry.attributes.push_back(
        {"keep_aspect_ratio_policy", AttributeKind::String, std::string("stretch")});
    append(entry.requirements,
           {oneOf("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"}),
            axesFit()});
  }
  entry.requirements.push_back(selectsIntegersInside());
  append(entry.requirements, sizeRequirements(kInputs));
  entry.requirements.push_back(resultFits(kInputs));
  return entry;
}

} // namespace

void addResize(OperatorTable &table) {
  table.add({1}, upsampledImage());
  Operator listed = byScales("Upsample", {});
  listed.attributes.push_back({"scales", AttributeKind::Floats, std::nullopt, true});
  table.add({7}, listed);
  Operator given = byScales("Upsample", {.scales = 1});
  given.inputs.push_back(known("scales", Types::Float, Presence::Required));
  table.add({9}, given);
  given.name = "Resize";
  table.add({10}, given);
  table.add({11}, resizeWithCoordinates(true, false));
  table.add({13}, resizeWithCoordinates(false, false));
  table.add({18, 19}, resizeWithCoordinates(false, true));
}

} // namespace sluice::frontend::ops
