// Operators that keep the elements in order: Identity, Flatten,
// Reshape, Squeeze, Unsqueeze.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

void passThrough(NodeBuilder &node) { node.result(node.in(0)); }

Operator identity() {
  Operator entry;
  entry.name = "Identity";
  entry.form = "no operation: the result is the input";
  entry.inputs = {{"input", Types::Value}};
  entry.outputs = {{"output"}};
  entry.build = passThrough;
  return entry;
}

Operator flatten() {
  Operator entry;
  entry.name = "Flatten";
  entry.form = "reshape";
  entry.inputs = {{"input", Types::Any}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{1}}};
  entry.requirements = {axisInRange("input", true)};
  entry.build = [](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    int64_t axis = node.axis(node.integer("axis"), x.rank());
    node.result(node.emit.reshape(
        x, {extentProduct(x.shape, 0, axis), extentProduct(x.shape, axis, x.shape.size())}));
  };
  return entry;
}

/// The attribute 'shape' of opset 1, or the input.
const std::vector<int64_t> &givenShape(const NodeView &node) {
  return node.given("shape") ? node.integers("shape") : node.knownInts(1);
}

/// The shape a Reshape asks for, or nothing with what is wrong in `found`.
std::optional<Shape> reshapeTarget(const NodeView &node, std::string &found) {
  const Shape &from = node.in(0).shape;
  const std::vector<int64_t> &wanted = givenShape(node);
  bool zeroIsZero = node.given("allowzero") && node.integer("allowzero") != 0;
  Shape shape = wanted;
  std::optional<size_t> inferred;
  found = fmt::format("{} for {}", shapeText(wanted), shapeText(from));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zeroIsZero) {
      if (i >= from.size()) {
        found += fmt::format(", but there is no axis {} for a 0 to copy", i);
        return std::nullopt;
      }
      shape[i] = from[i];
    } else if (shape[i] == -1) {
      if (inferred)
        return std::nullopt;
      inferred = i;
      shape[i] = 1;
    }
  }
  int64_t have = elementCount(from, kMaxElements);
  int64_t named = elementCount(shape, kMaxElements);
  if (inferred && named > 0 && have % named == 0)
    shape[*inferred] = have / named;
  if (elementCount(shape, kMaxElements) == have && (!inferred || named > 0))
    return shape;
  if (named > 0)
    found += inferred ? fmt::format(", {} elements in parts of {}", have, named)
                      : fmt::format(", {} elements for {}", named, have);
  return std::nullopt;
}

Operator reshape(bool hasAllowZero) {
  Operator entry;
  entry.name = "Reshape";
  entry.form = "reshape";
  entry.inputs = {{"data", Types::Any}, {"shape", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"reshaped"}};
  if (hasAllowZero)
    entry.attributes = {{"allowzero", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {{"input 'shape' must have rank 1",
                         [](const NodeView &node) -> std::string {
                           return node.in(1).rank() == 1 ? "" : shapeText(node.in(1).shape);
                         },
                         kShapes},
                        {"input 'shape' must have as many elements as 'data', with at most one -1",
                         [](const NodeView &node) -> std::string {
                           std::string found;
                           return reshapeTarget(node, found) ? "" : found;
                         },
                         kShapes}};
  entry.build = [](NodeBuilder &node) {
    std::string unused;
    node.result(node.emit.reshape(node.in(0), *reshapeTarget(node, unused)));
  };
  return entry;
}

Operator reshapeWithAttribute() {
  Operator entry = reshape(false);
  entry.inputs.pop_back();
  entry.requirements.erase(entry.requirements.begin()); // of the input's rank
  entry.requirements.front().sentence.replace(0, 5, "attribute");
  entry.attributes = {{"shape", AttributeKind::Ints, std::nullopt, true},
                      {"consumed_inputs", AttributeKind::Ints}};
  return entry;
}

Shape squeezedAxes(const NodeView &node) {
  const Shape &shape = node.in(0).shape;
  if (auto axes = givenAxes(node))
    return sortedAxes(*axes, node.in(0).rank());
  Shape ones;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 1)
      ones.push_back(static_cast<int64_t>(i));
  return ones;
}

Operator squeeze() {
  Operator entry;
  entry.name = "Squeeze";
  entry.form = "squeeze";
  entry.inputs = {{"data", Types::Any}};
  entry.outputs = {{"squeezed"}};
  entry.requirements = {{"'axes' must be distinct axes of 'data'",
                         [](const NodeView &node) -> std::string {
                           auto axes = givenAxes(node);
                           return axes ? axesProblem(*axes, node.in(0).rank()) : "";
                         },
                         kShapes},
                        {"the axes of 'data' in 'axes' must have extent 1",
                         [](const NodeView &node) -> std::string {
                           for (int64_t axis : squeezedAxes(node))
                             if (node.in(0).shape[axis] != 1)
                               return fmt::format("axis {} of {}", axis,
                                                  shapeText(node.in(0).shape));
                           return "";
                         },
                         kShapes}};
  entry.build = [](NodeBuilder &node) {
    node.result(node.emit.squeeze(node.in(0), squeezedAxes(node)));
  };
  return entry;
}

Operator unsqueeze() {
  Operator entry;
  entry.name = "Unsqueeze";
  entry.form = "unsqueeze";
  entry.inputs = {{"data", Types::Any}};
  entry.outputs = {{"expanded"}};
  entry.requirements = {{"'axes' must be distinct axes of the result",
                         [](const NodeView &node) -> std::string {
                           auto axes = *givenAxes(node);
                           return axesProblem(axes, node.in(0).rank() +
                                                        static_cast<int64_t>(axes.size()));
                         },
                         kShapes}};
  entry.build = [](NodeBuilder &node) {
    auto axes = *givenAxes(node);
    int64_t rank = node.in(0).rank() + static_cast<int64_t>(axes.size());
    node.result(node.emit.unsqueeze(node.in(0), sortedAxes(axes, rank)));
  };
  return entry;
}

/// Axes are an attribute up to opset 12, an input from 13 on.
Operator withAxesAttribute(Operator entry, bool required) {
  entry.attributes = {{"axes", AttributeKind::Ints, std::nullopt, required}};
  return entry;
}

Operator withAxesInput(Operator entry, Presence presence) {
  entry.inputs.push_back({"axes", Types::Integer, presence, true});
  return entry;
}

} // namespace

void addReshapes(OperatorTable &table) {
  table.add({1, 13, 14, 16, 19, 21, 23, 24, 25}, identity());
  table.add({1, 9, 11, 13, 21, 23, 24, 25}, flatten());
  table.add({1}, reshapeWithAttribute());
  table.add({5, 13}, reshape(false));
  table.add({14, 19, 21, 23, 24, 25}, reshape(true));
  table.add({1, 11}, withAxesAttribute(squeeze(), false));
  table.add({13, 21, 23, 24, 25}, withAxesInput(squeeze(), Presence::Optional));
  table.add({1, 11}, withAxesAttribute(unsqueeze(), true));
  table.add({13, 21, 23, 24, 25}, withAxesInput(unsqueeze(), Presence::Required));
}

} // namespace sluice::frontend::ops
