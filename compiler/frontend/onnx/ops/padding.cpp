// Pad.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/borders.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Elements added, or taken away if negative, at both ends of every axis of 'data'.
struct Borders {
  Shape low, high;
};

std::vector<int64_t> paddedAxes(const NodeView &node) {
  if (node.has(3))
    return node.knownInts(3);
  std::vector<int64_t> all(node.in(0).rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

const std::vector<int64_t> &pads(const NodeView &node) {
  if (node.given("paddings")) // opset 1
    return node.integers("paddings");
  return node.given("pads") ? node.integers("pads") : node.knownInts(1);
}

Borders bordersOf(const NodeView &node) {
  const std::vector<int64_t> axes = paddedAxes(node);
  Borders out{Shape(node.in(0).rank(), 0), Shape(node.in(0).rank(), 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = node.axis(axes[i], node.in(0).rank());
    out.low[axis] = pads(node)[i];
    out.high[axis] = pads(node)[axes.size() + i];
  }
  return out;
}

int64_t cut(int64_t border) { return std::min<int64_t>(border, 0); }
int64_t added(int64_t border) { return std::max<int64_t>(border, 0); }

/// The extents after negative borders.
Shape croppedShape(const NodeView &node) {
  const Borders borders = bordersOf(node);
  Shape out = node.in(0).shape;
  for (size_t axis = 0; axis < out.size(); ++axis)
    out[axis] += cut(borders.low[axis]) + cut(borders.high[axis]);
  return out;
}

const std::string &mode(const NodeView &node) { return node.attribute<std::string>("mode"); }

/// The element at `place` repeated along an axis.
Tensor repeated(Emitter &emit, const Tensor &x, int64_t axis, int64_t place, int64_t count) {
  if (x.known)
    return emit.concat(std::vector<Tensor>(count, sliceAlong(emit, x, axis, place, 1)), axis);
  Shape shape = x.shape;
  shape[axis] = count;
  return emit.broadcast(sliceAlong(emit, x, axis, place, 1, 1), shape);
}

/// An axis with borders of its own elements.
Tensor bordered(Emitter &emit, const Tensor &x, const std::string &mode, int64_t axis, int64_t low,
                int64_t high) {
  const int64_t extent = x.shape[axis];
  std::vector<Tensor> parts;
  if (low > 0)
    parts.push_back(mode == "edge"      ? repeated(emit, x, axis, 0, low)
                    : mode == "reflect" ? sliceAlong(emit, x, axis, low, low, -1)
                                        : sliceAlong(emit, x, axis, extent - low, low, 1));
  parts.push_back(x);
  if (high > 0)
    parts.push_back(mode == "edge"      ? repeated(emit, x, axis, extent - 1, high)
                    : mode == "reflect" ? sliceAlong(emit, x, axis, extent - 2, high, -1)
                                        : sliceAlong(emit, x, axis, 0, high, 1));
  return parts.size() == 1 ? x : emit.concat(parts, axis);
}

void buildPad(NodeBuilder &node) {
  Borders borders = bordersOf(node);
  Shape starts(node.in(0).rank(), 0);
  const Shape steps(node.in(0).rank(), 1);
  for (size_t axis = 0; axis < starts.size(); ++axis)
    starts[axis] = -cut(borders.low[axis]);
  Tensor x = node.emit.slice(node.in(0), starts, croppedShape(node), steps);
  std::transform(borders.low.begin(), borders.low.end(), borders.low.begin(), added);
  std::transform(borders.high.begin(), borders.high.end(), borders.high.begin(), added);
  if (mode(node) == "constant") {
    const bool isFloat = isFloatType(x.type);
    const float number = node.given("value")      ? node.real("value")
                         : node.has(2) && isFloat ? node.in(2).known->floats[0]
                                                  : 0;
    const int64_t integer = node.has(2) && !isFloat ? node.knownInts(2)[0] : 0;
    node.result(withBorder(node.emit, x, borders.low, borders.high, number, integer));
    return;
  }
  for (size_t axis = 0; axis < starts.size(); ++axis)
    x = bordered(node.emit, x, mode(node), static_cast<int64_t>(axis), borders.low[axis],
                 borders.high[axis]);
  node.result(x);
}

/// How many of its own elements an axis of `extent` can be bordered with.
int64_t mostBorder(const std::string &mode, int64_t extent) {
  return mode == "reflect" ? extent - 1 : mode == "wrap" ? extent : kMaxElements;
}

std::vector<Requirement> borderRequirements(const std::vector<std::string> &modes) {
  return {
      {fmt::format("attribute 'mode' must be {}", alternatives(modes)),
       [modes](const NodeView &node) -> std::string {
         return std::find(modes.begin(), modes.end(), mode(node)) == modes.end()
                    ? inQuotes(mode(node))
                    : "";
       },
       kShapes},
      {"'axes' must be distinct axes of 'data'",
       [](const NodeView &node) { return axesProblem(paddedAxes(node), node.in(0).rank()); },
       kShapes},
      {fmt::format("'pads' must have two elements per padded axis, in [{}, {}]", -kMaxElements,
                   kMaxElements),
       [](const NodeView &node) -> std::string {
         const bool fits = pads(node).size() == 2 * paddedAxes(node).size() &&
                           std::all_of(pads(node).begin(), pads(node).end(), [](int64_t pad) {
                             return pad >= -kMaxElements && pad <= kMaxElements;
                           });
         return fits ? ""
                     : fmt::format("{} for {}", shapeText(pads(node)), shapeText(node.in(0).shape));
       },
       kShapes},
      {"input 'constant_value' must have one element",
       [](const NodeView &node) -> std::string {
         return !node.has(2) || node.in(2).known->size() == 1 ? "" : shapeText(node.in(2).shape);
       },
       kShapes},
      {"negative 'pads' must leave at least one element of an axis",
       [](const NodeView &node) -> std::string {
         const Shape left = croppedShape(node);
         return std::all_of(left.begin(), left.end(), [](int64_t extent) { return extent > 0; })
                    ? ""
                    : fmt::format("{} for {}", shapeText(pads(node)), shapeText(node.in(0).shape));
       },
       kShapes},
      {"'pads' must be below the extent of their axis to reflect it, and at most the extent to "
       "wrap it",
       [](const NodeView &node) -> std::string {
         const Borders borders = bordersOf(node);
         const Shape extents = croppedShape(node);
         for (size_t axis = 0; axis < extents.size(); ++axis)
           if (std::max(borders.low[axis], borders.high[axis]) >
               std::max<int64_t>(mostBorder(mode(node), extents[axis]), 0))
             return fmt::format("{} and {} for extent {} of axis {}", borders.low[axis],
                                borders.high[axis], extents[axis], axis);
         return "";
       }}};
}

Operator pad(const std::vector<std::string> &modes) {
  Operator entry;
  entry.name = "Pad";
  entry.form =
      "pad; slices, then concat, for borders that repeat elements; slice for negative pads";
  entry.inputs = {{"data"}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"mode", AttributeKind::String, std::string("constant")}};
  entry.requirements = borderRequirements(modes);
  entry.build = buildPad;
  return entry;
}

Operator padWithInputs(const std::vector<std::string> &modes, bool hasAxes) {
  Operator entry = pad(modes);
  entry.inputs = {{"data", Types::Any},
                  {"pads", Types::Integer, Presence::Required, true},
                  {"constant_value", Types::Any, Presence::Optional, true}};
  entry.requirements.insert(entry.requirements.begin(),
                            {{"input 'constant_value' must have the type of 'data'",
                              [](const NodeView &node) -> std::string {
                                return !node.has(2) || node.in(2).type == node.in(0).type
                                           ? ""
                                           : fmt::format("{} for {}", dataTypeName(node.in(2).type),
                                                         dataTypeName(node.in(0).type));
                              },
                              kShapes}});
  if (hasAxes)
    entry.inputs.push_back({"axes", Types::Integer, Presence::Optional, true});
  return entry;
}

} // namespace

void addPadding(OperatorTable &table) {
  const std::vector<std::string> modes = {"constant", "reflect", "edge"};
  Operator first = pad(modes);
  first.attributes.push_back({"pads", AttributeKind::Ints, std::nullopt, true});
  first.attributes.push_back({"value", AttributeKind::Float, 0.0F});
  table.add({2}, first);
  first.attributes[1].name = "paddings";
  table.add({1}, first);
  table.add({11, 13}, padWithInputs(modes, false));
  table.add({18}, padWithInputs(modes, true));
  table.add({19, 21, 23, 24, 25}, padWithInputs({"constant", "reflect", "edge", "wrap"}, true));
}

} // namespace sluice::frontend::ops
