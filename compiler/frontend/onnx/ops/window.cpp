#include "compiler/frontend/onnx/ops/window.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::frontend::ops {
namespace {

/// Every number of a window; products of two stay far below 2^63.
constexpr int64_t kMost = kMaxElements;

size_t spatialAxes(const NodeView &node) { return node.in(0).shape.size() - 2; }

/// Operators without the attribute have pads of their own.
const std::string &autoPad(const NodeView &node) {
  static const std::string ownPads = "NOTSET";
  return node.given("auto_pad") ? node.attribute<std::string>("auto_pad") : ownPads;
}

/// The attribute has `perAxis` elements for each spatial axis, all in [least, kMost].
std::string listProblem(const NodeView &node, const std::string &attribute, size_t perAxis,
                        int64_t least) {
  if (!node.given(attribute))
    return "";
  const Shape &list = node.integers(attribute);
  const bool fits = list.size() == perAxis * spatialAxes(node) &&
                    std::all_of(list.begin(), list.end(), [least](int64_t value) {
                      return value >= least && value <= kMost;
                    });
  return fits ? "" : fmt::format("{} for {}", shapeText(list), shapeText(node.in(0).shape));
}

/// Pads and positions of one axis.
void place(WindowAxis &axis, const std::string &mode, bool roundUp, bool crops) {
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    axis.count = (axis.extent - 1) / axis.stride + 1;
    int64_t pads = (axis.count - 1) * axis.stride + axis.reach() - axis.extent;
    if (!crops)
      pads = std::max<int64_t>(pads, 0);
    axis.low = (mode == "SAME_UPPER" ? pads : pads + 1) / 2;
    axis.high = pads - axis.low;
    return;
  }
  const int64_t room = axis.extent + axis.low + axis.high - axis.reach();
  axis.count = room < 0 ? 0 : room / axis.stride + 1;
  // A further position counts if its first element is in the input or the pad before it.
  if (roundUp && room >= 0 && room % axis.stride != 0 &&
      axis.count * axis.stride < axis.extent + axis.low)
    ++axis.count;
}

/// Without a window: every stride-th element of `x` along `axis`, and the pads it reaches.
Tensor stepped(Emitter &emit, const Tensor &x, int64_t axis, const WindowAxis &window,
               float outside) {
  const int64_t last = (window.count - 1) * window.stride - window.low;
  Shape low(x.shape.size(), 0), high = low, starts = low, steps(x.shape.size(), 1);
  low[axis] = std::max<int64_t>(window.low, 0);
  high[axis] = std::max<int64_t>(last - window.extent + 1, 0);
  const Tensor padded = emit.pad(x, low, high, outside);
  Shape sizes = padded.shape;
  starts[axis] = std::max<int64_t>(-window.low, 0);
  sizes[axis] = window.count;
  steps[axis] = window.count > 1 ? window.stride : 1;
  return emit.slice(padded, starts, sizes, steps);
}

} // namespace

size_t firstSpatialAxis(const NodeView &node) {
  return node.given("channels_last") && node.integer("channels_last") != 0 ? 1 : 2;
}

std::vector<AttributeSpec> windowAttributes(bool hasDilations) {
  std::vector<AttributeSpec> out = {{"auto_pad", AttributeKind::String, std::string("NOTSET")},
                                    {"kernel_shape", AttributeKind::Ints},
                                    {"pads", AttributeKind::Ints},
                                    {"strides", AttributeKind::Ints}};
  if (hasDilations)
    out.push_back({"dilations", AttributeKind::Ints});
  return out;
}

Requirement hasSpatialAxes(const char *input) {
  return {
      fmt::format("input '{}' must have rank 3 or more: batch, channels and spatial axes", input),
      [](const NodeView &node) -> std::string {
        return node.in(0).rank() >= 3 ? "" : shapeText(node.in(0).shape);
      },
      kShapes};
}

Requirement perSpatialAxis(const std::string &attribute) {
  return {fmt::format("attribute '{}' must have one element per spatial axis, in [1, {}]",
                      attribute, kMost),
          [attribute](const NodeView &node) { return listProblem(node, attribute, 1, 1); },
          kShapes};
}

Requirement padsPerSpatialAxis() {
  return {
      fmt::format("attribute 'pads' must have two elements per spatial axis, in [0, {}]", kMost),
      [](const NodeView &node) { return listProblem(node, "pads", 2, 0); }, kShapes};
}

std::vector<Requirement> padRequirements() {
  return {{"attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID",
           [](const NodeView &node) -> std::string {
             const std::string &mode = autoPad(node);
             const bool known = mode == "NOTSET" || mode == "SAME_UPPER" || mode == "SAME_LOWER" ||
                                mode == "VALID";
             return known ? "" : inQuotes(mode);
           },
           kShapes},
          padsPerSpatialAxis(),
          {"attribute 'pads' must be left out or 0 unless 'auto_pad' is NOTSET",
           [](const NodeView &node) -> std::string {
             if (autoPad(node) == "NOTSET" || !node.given("pads"))
               return "";
             const Shape &pads = node.integers("pads");
             const bool none =
                 std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return !pad; });
             return none ? "" : fmt::format("{} and {}", shapeText(pads), autoPad(node));
           },
           kShapes}};
}

Requirement windowFits(std::function<Shape(const NodeView &)> sizes) {
  return {"the window must fit into the padded input",
          [sizes = std::move(sizes)](const NodeView &node) -> std::string {
            const std::vector<WindowAxis> windows = windowAxes(node, sizes(node));
            for (size_t i = 0; i < windows.size(); ++i)
              if (windows[i].count < 1)
                return fmt::format("a window of {} for {} elements along axis {}",
                                   windows[i].reach(),
                                   windows[i].extent + windows[i].low + windows[i].high,
                                   firstSpatialAxis(node) + i);
            return "";
          },
          kShapes};
}

Shape perAxis(const NodeView &node, const std::string &attribute) {
  return node.given(attribute) ? node.integers(attribute) : Shape(spatialAxes(node), 1);
}

std::vector<WindowAxis> windowAxes(const NodeView &node, const Shape &sizes, bool roundUp,
                                   bool crops) {
  const Shape strides = perAxis(node, "strides"), dilations = perAxis(node, "dilations");
  const size_t count = sizes.size();
  const Shape pads = node.given("pads") ? node.integers("pads") : Shape(2 * count, 0);
  std::vector<WindowAxis> out;
  for (size_t i = 0; i < count; ++i) {
    WindowAxis axis{node.in(0).shape[firstSpatialAxis(node) + i],
                    sizes[i],
                    strides[i],
                    dilations[i],
                    pads[i],
                    pads[count + i]};
    place(axis, autoPad(node), roundUp, crops);
    out.push_back(axis);
  }
  return out;
}

bool staysInside(const WindowAxis &axis) {
  return axis.low <= 0 && (axis.count - 1) * axis.stride + axis.reach() - axis.low <= axis.extent;
}

Tensor seen(Emitter &emit, const Tensor &x, const std::vector<WindowAxis> &windows, float outside) {
  Tensor out = x;
  reference::Window window;
  for (size_t i = 0; i < windows.size(); ++i) {
    const WindowAxis &one = windows[i];
    const auto axis = static_cast<int64_t>(i) + 2;
    if (one.size == 1) {
      out = stepped(emit, out, axis, one, outside);
      continue;
    }
    window.axes.push_back(axis);
    window.sizes.push_back(one.size);
    window.counts.push_back(one.count);
    window.starts.push_back(-one.low);
    window.strides.push_back(one.count > 1 ? one.stride : 1);
    window.dilations.push_back(one.dilation);
  }
  return window.axes.empty() ? out : emit.window(out, window, outside);
}

} // namespace sluice::frontend::ops
