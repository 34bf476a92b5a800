// Slice and Split.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// The operands of a Slice, attributes up to opset 9 and inputs from 10 on.
struct SliceOperands {
  std::vector<int64_t> starts, ends, axes, steps;
};

SliceOperands sliceOperands(const NodeView &node) {
  SliceOperands out;
  auto read = [&](const char *name, size_t input) -> std::optional<std::vector<int64_t>> {
    if (node.given(name))
      return node.integers(name);
    if (node.has(input))
      return node.knownInts(input);
    return std::nullopt;
  };
  out.starts = *read("starts", 1);
  out.ends = *read("ends", 2);
  out.axes.resize(out.starts.size());
  std::iota(out.axes.begin(), out.axes.end(), 0);
  if (auto axes = read("axes", 3))
    out.axes = *axes;
  out.steps = read("steps", 4).value_or(std::vector<int64_t>(out.starts.size(), 1));
  return out;
}

/// Start and number of elements of start:end:step over `extent`. As ONNX says,
/// and unlike numpy, a start before the first element is the first also where
/// the step is negative.
std::pair<int64_t, int64_t> sliceRange(int64_t start, int64_t end, int64_t step, int64_t extent) {
  if (extent == 0)
    return {0, 0};
  auto fromFront = [extent](int64_t index) { return index < 0 ? index + extent : index; };
  start = fromFront(start);
  end = fromFront(end);
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    return {start, end <= start ? 0 : (end - start - 1) / step + 1};
  }
  start = std::clamp<int64_t>(start, 0, extent - 1);
  end = std::clamp<int64_t>(end, -1, extent - 1);
  // step may be the least int64, so it is not negated.
  return {start, end >= start ? 0 : (end - start + 1) / step + 1};
}

struct SliceGeometry {
  Shape starts, sizes, steps;
};

SliceGeometry sliceGeometry(const NodeView &node) {
  const Shape &shape = node.in(0).shape;
  SliceOperands operands = sliceOperands(node);
  SliceGeometry out{Shape(shape.size(), 0), shape, Shape(shape.size(), 1)};
  for (size_t i = 0; i < operands.axes.size(); ++i) {
    int64_t axis = node.axis(operands.axes[i], node.in(0).rank());
    std::tie(out.starts[axis], out.sizes[axis]) =
        sliceRange(operands.starts[i], operands.ends[i], operands.steps[i], shape[axis]);
    // A single element has no next one; steps beyond the extent could overflow.
    out.steps[axis] = out.sizes[axis] > 1 ? operands.steps[i] : 1;
  }
  return out;
}

Operator slice() {
  Operator entry;
  entry.name = "Slice";
  entry.form = "slice";
  entry.inputs = {{"data", Types::Any}};
  entry.outputs = {{"output"}};
  entry.requirements = {
      {"'starts', 'ends', 'axes' and 'steps' must have the same length",
       [](const NodeView &node) -> std::string {
         SliceOperands o = sliceOperands(node);
         size_t count = o.starts.size();
         return o.ends.size() == count && o.axes.size() == count && o.steps.size() == count
                    ? ""
                    : fmt::format("{}, {}, {} and {}", count, o.ends.size(), o.axes.size(),
                                  o.steps.size());
       },
       kShapes},
      {"'axes' must be distinct axes of 'data'",
       [](const NodeView &node) {
         return axesProblem(sliceOperands(node).axes, node.in(0).rank());
       },
       kShapes},
      {"'steps' must not be 0",
       [](const NodeView &node) -> std::string {
         std::vector<int64_t> steps = sliceOperands(node).steps;
         return std::find(steps.begin(), steps.end(), 0) == steps.end() ? "" : shapeText(steps);
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    SliceGeometry g = sliceGeometry(node);
    node.result(node.emit.slice(node.in(0), g.starts, g.sizes, g.steps));
  };
  return entry;
}

Operator sliceWithAttributes() {
  Operator entry = slice();
  entry.attributes = {{"starts", AttributeKind::Ints, std::nullopt, true},
                      {"ends", AttributeKind::Ints, std::nullopt, true},
                      {"axes", AttributeKind::Ints}};
  return entry;
}

Operator sliceWithInputs() {
  Operator entry = slice();
  entry.inputs.push_back({"starts", Types::Integer, Presence::Required, true});
  entry.inputs.push_back({"ends", Types::Integer, Presence::Required, true});
  entry.inputs.push_back({"axes", Types::Integer, Presence::Optional, true});
  entry.inputs.push_back({"steps", Types::Integer, Presence::Optional, true});
  return entry;
}

int64_t splitExtent(const NodeView &node) {
  return node.in(0).shape[node.axis(node.integer("axis"), node.in(0).rank())];
}

/// The extents of a Split's results as the model gives them, or by equal parts.
std::vector<int64_t> splitSizes(const NodeView &node) {
  if (node.given("split"))
    return node.integers("split");
  if (node.has(1) && node.in(1).known->isFloat()) // opset 1
    return {node.in(1).known->floats.begin(), node.in(1).known->floats.end()};
  if (node.has(1))
    return node.knownInts(1);
  auto parts = static_cast<int64_t>(node.outputCount());
  int64_t extent = splitExtent(node);
  int64_t part = (extent + parts - 1) / parts;
  std::vector<int64_t> sizes(parts, part);
  if (node.given("num_outputs")) // the last part may be smaller
    sizes.back() = extent - part * (parts - 1);
  return sizes;
}

Requirement splitFits() {
  return {"the parts must be at least 0, one per output, and add up to the extent of 'axis'",
          [](const NodeView &node) -> std::string {
            std::vector<int64_t> sizes = splitSizes(node);
            // Subtracting cannot overflow: every part is checked to be left over.
            int64_t left = splitExtent(node);
            bool fits = sizes.size() == node.outputCount();
            for (int64_t size : sizes) {
              fits = fits && size >= 0 && size <= left;
              left -= fits ? size : 0;
            }
            return fits && left == 0
                       ? ""
                       : fmt::format("{} for {} outputs of extent {}", shapeText(sizes),
                                     node.outputCount(), splitExtent(node));
          },
          kShapes};
}

Operator split() {
  Operator entry;
  entry.name = "Split";
  entry.form = "one slice per output";
  entry.inputs = {{"input", Types::Any}};
  entry.outputs = {{"outputs", Presence::Variadic}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{0}}};
  entry.requirements = {axisInRange("input"), splitFits()};
  entry.build = [](NodeBuilder &node) {
    int64_t axis = node.axis(node.integer("axis"), node.in(0).rank());
    std::vector<int64_t> parts = splitSizes(node);
    int64_t start = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (node.wants(i))
        node.result(i, sliceAlong(node.emit, node.in(0), axis, start, parts[i]));
      start += parts[i];
    }
  };
  return entry;
}

Operator splitWithAttribute() {
  Operator entry = split();
  entry.attributes.push_back({"split", AttributeKind::Ints});
  return entry;
}

/// Opset 1 takes the parts as an attribute, or as an input of the type of what is split.
Operator splitWithBoth() {
  Operator entry = splitWithAttribute();
  entry.inputs.push_back({"split", Types::Float, Presence::Optional, true});
  const std::vector<Requirement> ofInput = {
      {"input 'split' and attribute 'split' must not both be given",
       [](const NodeView &node) -> std::string {
         return node.has(1) && node.given("split") ? "both" : "";
       },
       kShapes},
      {fmt::format("every element of input 'split' must be a whole number in [0, {}]",
                   kMaxElements),
       [](const NodeView &node) -> std::string {
         if (!node.has(1))
           return "";
         for (const double part : node.in(1).known->floats)
           if (!(part >= 0 && part <= static_cast<double>(kMaxElements)) ||
               std::trunc(part) != part)
             return fmt::format("{}", part);
         return "";
       },
       kShapes}};
  entry.requirements.insert(entry.requirements.begin() + 1, ofInput.begin(), ofInput.end());
  return entry;
}

Operator splitWithInput() {
  Operator entry = split();
  entry.inputs.push_back({"split", Types::Integer, Presence::Optional, true});
  return entry;
}

Operator splitWithCount() {
  Operator entry = splitWithInput();
  entry.attributes.push_back({"num_outputs", AttributeKind::Int});
  entry.requirements = {
      axisInRange("input"),
      {"exactly one of input 'split' and attribute 'num_outputs' must be given",
       [](const NodeView &node) -> std::string {
         if (node.has(1) != node.given("num_outputs"))
           return "";
         return node.has(1) ? "both" : "neither";
       },
       kShapes},
      {"attribute 'num_outputs' must be the number of outputs",
       [](const NodeView &node) -> std::string {
         if (!node.given("num_outputs") ||
             node.integer("num_outputs") == static_cast<int64_t>(node.outputCount()))
           return "";
         return fmt::format("{} for {} outputs", node.integer("num_outputs"), node.outputCount());
       },
       kShapes},
      splitFits()};
  return entry;
}

} // namespace

void addSlices(OperatorTable &table) {
  table.add({1}, sliceWithAttributes());
  table.add({10, 11, 13}, sliceWithInputs());
  table.add({1}, splitWithBoth());
  table.add({2, 11}, splitWithAttribute());
  table.add({13}, splitWithInput());
  table.add({18}, splitWithCount());
}

} // namespace sluice::frontend::ops
