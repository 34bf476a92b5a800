// ConvTranspose: every stride-th element of the result is a convolution with every stride-th
// element of the window, so nothing is multiplied by inserted zeros.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/convolution.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

constexpr int64_t kMaxPhases = 1024;

/// One axis: element k of the window at position i of the input adds to place
/// i * stride + k * dilation - low of the result.
struct SpreadAxis {
  int64_t extent, size, stride, dilation;
  int64_t most;   ///< with the largest output_padding and no pads
  int64_t result; ///< the extent that is kept
  int64_t low;

  int64_t phases() const { return std::min(stride, result); }
  int64_t places() const { return (result - 1) / stride + 1; } ///< of a phase
};

/// What adds to the places phase, phase + stride, ... of the result.
struct Phase {
  WindowAxis window;
  int64_t first = 0, step = 1; ///< of the elements of the whole window, as the phase reads them
};

Shape listOr(const NodeView &node, const char *attribute, size_t count, int64_t value) {
  return node.given(attribute) ? node.integers(attribute) : Shape(count, value);
}

/// The pads of `total` elements before the result: the odd one is behind it in SAME_UPPER.
int64_t lowOf(int64_t total, const std::string &mode) {
  return mode == "SAME_UPPER" ? total / 2 : total - total / 2;
}

std::vector<SpreadAxis> axesOf(const NodeView &node) {
  const Shape sizes = kernelOf(node);
  const size_t count = sizes.size();
  const Shape strides = perAxis(node, "strides"), dilations = perAxis(node, "dilations"),
              more = listOr(node, "output_padding", count, 0),
              pads = listOr(node, "pads", 2 * count, 0);
  const auto &mode = node.attribute<std::string>("auto_pad");
  std::vector<SpreadAxis> out;
  for (size_t i = 0; i < count; ++i) {
    const int64_t extent = node.in(0).shape[i + 2];
    const int64_t reach = strides[i] * (extent - 1) + (sizes[i] - 1) * dilations[i] + 1;
    const int64_t all = reach + more[i];
    const int64_t most = reach + std::max(strides[i], dilations[i]) - 1;
    SpreadAxis axis{extent, sizes[i], strides[i], dilations[i], most, all, 0};
    if (node.given("output_shape")) {
      axis.result = node.integers("output_shape")[i];
      axis.low = lowOf(std::max<int64_t>(all - axis.result, 0), mode);
    } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      axis.result = extent * strides[i];
      axis.low = lowOf(std::max<int64_t>(all - axis.result, 0), mode);
    } else {
      axis.low = pads[i];
      axis.result = all - pads[i] - pads[count + i];
    }
    out.push_back(axis);
  }
  return out;
}

/// Nothing if no element of the window ever adds to these places.
std::optional<Phase> phaseOf(const SpreadAxis &axis, int64_t phase) {
  const int64_t common = std::gcd(axis.stride, axis.dilation);
  const int64_t step = axis.stride / common; // between elements that add to the same places
  int64_t first = 0;
  while (first < std::min(step, axis.size) &&
         (phase + axis.low - first * axis.dilation) % axis.stride != 0)
    ++first;
  if (first >= std::min(step, axis.size))
    return std::nullopt;
  // Later elements of the window meet earlier ones of the input, so they are read backwards.
  Phase out;
  out.window.extent = axis.extent;
  out.window.size = (axis.size - 1 - first) / step + 1;
  out.window.dilation = axis.dilation / common;
  out.window.count = axis.places();
  out.window.low = (out.window.size - 1) * out.window.dilation -
                   (phase + axis.low - first * axis.dilation) / axis.stride;
  out.first = first + (out.window.size - 1) * step;
  out.step = -step;
  return out;
}

/// Builds the result axis by axis: its phases next to each other, then one axis.
class Interleaving {
public:
  Interleaving(Emitter &emit, const Tensor &x, const Tensor &weights, int64_t groups,
               const std::vector<SpreadAxis> &axes)
      : emit(emit), x(x), weights(weights), groups(groups), axes(axes) {}

  /// With the phases of the axes before the next one chosen.
  Tensor build() {
    const size_t next = chosen.size();
    if (next == axes.size())
      return product();
    const SpreadAxis &axis = axes[next];
    const auto place = static_cast<int64_t>(next) + 2;
    std::vector<Tensor> phases;
    for (int64_t phase = 0; phase < axis.phases(); ++phase) {
      chosen.push_back(phaseOf(axis, phase));
      phases.push_back(build());
      chosen.pop_back();
    }
    if (phases.size() == 1)
      return phases.front();
    const Tensor merged = emit.interleave(phases, place);
    Shape shape = merged.shape;
    shape[place] = axis.result;
    return emit.slice(merged, Shape(shape.size(), 0), shape, Shape(shape.size(), 1));
  }

private:
  /// The convolution of the chosen phases.
  Tensor product() {
    std::vector<WindowAxis> windows;
    Shape starts(2, 0), sizes = {weights.shape[0], weights.shape[1]}, steps(2, 1);
    for (const std::optional<Phase> &phase : chosen) {
      if (!phase)
        return zeros();
      windows.push_back(phase->window);
      starts.push_back(phase->first);
      sizes.push_back(phase->window.size);
      steps.push_back(phase->window.size > 1 ? phase->step : 1);
    }
    return convolve(emit, x, emit.slice(weights, starts, sizes, steps), windows, groups);
  }

  Tensor zeros() {
    Shape shape = {x.shape[0], weights.shape[0]};
    for (const SpreadAxis &axis : axes)
      shape.push_back(axis.places());
    HostTensor zero = HostTensor::ofFloats(Shape(shape.size(), 1), {0});
    zero.type = x.type;
    return emit.broadcast(Tensor::ofKnown(std::move(zero)), shape);
  }

  Emitter &emit;
  const Tensor &x, &weights; ///< weights [features, channels of one group, window...]
  const int64_t groups;
  const std::vector<SpreadAxis> &axes;
  std::vector<std::optional<Phase>> chosen;
};

/// [channels, features of one group, window...] as those of a convolution: [features, channels of
/// one group, window...].
Tensor turned(Emitter &emit, const Tensor &weights, int64_t groups) {
  const Shape &from = weights.shape;
  Shape split = {groups, from[0] / groups}, order = {0, 2, 1},
        joined = {groups * from[1], from[0] / groups};
  for (size_t axis = 1; axis < from.size(); ++axis)
    split.push_back(from[axis]);
  for (size_t axis = 2; axis < from.size(); ++axis) {
    order.push_back(static_cast<int64_t>(axis) + 1);
    joined.push_back(from[axis]);
  }
  return emit.reshape(emit.transpose(emit.reshape(weights, split), order), joined);
}

void buildConvTranspose(NodeBuilder &node) {
  const int64_t groups = node.integer("group");
  const Tensor weights = turned(node.emit, node.in(1), groups);
  const std::vector<SpreadAxis> axes = axesOf(node);
  const Tensor y = Interleaving(node.emit, node.in(0), weights, groups, axes).build();
  node.result(node.has(2) ? biased(node.emit, y, node.in(2)) : y);
}

std::vector<Requirement> shapeRequirements() {
  return {sameTypes(),
          hasSpatialAxes(),
          weightsHaveRank(),
          {"attribute 'group' must divide the channels, and 'W' must have as many channels as 'X'",
           [](const NodeView &node) -> std::string {
             const int64_t group = node.integer("group"), channels = node.in(0).shape[1];
             return group >= 1 && channels % group == 0 && node.in(1).shape[0] == channels
                        ? ""
                        : fmt::format("group {}, {} of 'X' and {} of 'W'", group,
                                      shapeText(node.in(0).shape), shapeText(node.in(1).shape));
           },
           kShapes},
          {"input 'B' must have one element per output channel of 'W' and group",
           [](const NodeView &node) -> std::string {
             return !node.has(2) ||
                            node.in(2).shape == Shape{node.in(1).shape[1] * node.integer("group")}
                        ? ""
                        : fmt::format("{} for {} and group {}", shapeText(node.in(2).shape),
                                      shapeText(node.in(1).shape), node.integer("group"));
           },
           kShapes},
          kernelShapeFits()};
}

std::vector<Requirement> resultRequirements() {
  return {{"'output_padding' must have one element per spatial axis, below its stride or dilation",
           [](const NodeView &node) -> std::string {
             if (!node.given("output_padding"))
               return "";
             const Shape &more = node.integers("output_padding");
             const Shape strides = perAxis(node, "strides"), dilations = perAxis(node, "dilations");
             bool fits = more.size() == strides.size();
             for (size_t i = 0; fits && i < more.size(); ++i)
               fits = more[i] >= 0 && more[i] < std::max(strides[i], dilations[i]);
             return fits ? ""
                         : fmt::format("{}, strides {} and dilations {}", shapeText(more),
                                       shapeText(strides), shapeText(dilations));
           },
           kShapes},
          perSpatialAxis("output_shape"),
          {"'output_shape' must be at most the result with the largest 'output_padding'",
           [](const NodeView &node) -> std::string {
             if (!node.given("output_shape"))
               return "";
             Shape most;
             bool fits = true;
             for (const SpreadAxis &axis : axesOf(node)) {
               most.push_back(axis.most);
               fits &= axis.result <= axis.most;
             }
             return fits ? ""
                         : fmt::format("{}, at most {}", shapeText(node.integers("output_shape")),
                                       shapeText(most));
           },
           kShapes},
          {fmt::format("the result must have an extent in [1, {}] along every axis", kMaxElements),
           [](const NodeView &node) -> std::string {
             Shape extents;
             bool fits = true;
             for (const SpreadAxis &axis : axesOf(node)) {
               extents.push_back(axis.result);
               fits &= axis.result >= 1 && axis.result <= kMaxElements;
             }
             return fits ? "" : shapeText(extents);
           },
           kShapes},
          {fmt::format("the strides must make at most {} phases", kMaxPhases),
           [](const NodeView &node) -> std::string {
             Shape phases;
             for (const SpreadAxis &axis : axesOf(node))
               phases.push_back(axis.phases());
             return elementCount(phases, kMaxPhases) >= 0 ? "" : shapeText(phases);
           }},
          weightsFitOverGroups()};
}

} // namespace

void addTransposedConvolution(OperatorTable &table) {
  Operator entry = convolution("ConvTranspose", "per phase of the strides a window and contract; "
                                                "interleave the phases, then slice; then map: + B");
  entry.attributes.push_back({"output_padding", AttributeKind::Ints});
  entry.attributes.push_back({"output_shape", AttributeKind::Ints});
  entry.requirements = shapeRequirements();
  entry.requirements.push_back(perSpatialAxis("strides"));
  entry.requirements.push_back(perSpatialAxis("dilations"));
  for (Requirement &one : padRequirements())
    entry.requirements.push_back(std::move(one));
  for (Requirement &one : resultRequirements())
    entry.requirements.push_back(std::move(one));
  entry.build = buildConvTranspose;
  table.add({1, 11, 22}, entry);
}

} // namespace sluice::frontend::ops
