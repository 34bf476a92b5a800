// Constant, and the shape arithmetic that exporters leave: ConstantOfShape,
// Shape, Cast. Their results are known at import.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

const char *const kConstantForms[] = {"value", "value_float", "value_floats", "value_int",
                                      "value_ints"};

HostTensor constantValue(const NodeView &node) {
  if (node.given("value_float"))
    return HostTensor::ofFloats({}, {node.real("value_float")});
  if (node.given("value_int"))
    return HostTensor::ofInts({}, {node.integer("value_int")});
  if (node.given("value_floats")) {
    const auto &values = node.attribute<std::vector<float>>("value_floats");
    return HostTensor::ofFloats({static_cast<int64_t>(values.size())}, values);
  }
  if (node.given("value_ints")) {
    const auto &values = node.integers("value_ints");
    return HostTensor::ofInts({static_cast<int64_t>(values.size())}, values);
  }
  return *node.attribute<HostTensorRef>("value");
}

Operator constant() {
  Operator entry;
  entry.name = "Constant";
  entry.form = "a constant";
  entry.outputs = {{"output"}};
  entry.attributes = {{"value", AttributeKind::Tensor, std::nullopt, true}};
  entry.build = [](NodeBuilder &node) { node.result(Tensor::ofKnown(constantValue(node))); };
  return entry;
}

Operator constantWithForms() {
  Operator entry = constant();
  entry.attributes = {{"value", AttributeKind::Tensor},
                      {"value_float", AttributeKind::Float},
                      {"value_floats", AttributeKind::Floats},
                      {"value_int", AttributeKind::Int},
                      {"value_ints", AttributeKind::Ints}};
  entry.requirements = {{"exactly one attribute is given",
                         [](const NodeView &node) -> std::string {
                           auto count =
                               std::count_if(std::begin(kConstantForms), std::end(kConstantForms),
                                             [&](const char *form) { return node.given(form); });
                           return count == 1 ? "" : fmt::format("{}", count);
                         },
                         "E0206"}};
  return entry;
}

Operator constantOfShape() {
  Operator entry;
  entry.name = "ConstantOfShape";
  entry.form = "a constant";
  entry.inputs = {{"input", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"value", AttributeKind::Tensor}};
  entry.requirements = {
      {fmt::format("the shape has no negative extent and at most {} elements", kMaxKnownElements),
       [](const NodeView &node) -> std::string {
         const std::vector<int64_t> &shape = node.knownInts(0);
         return elementCount(shape, kMaxKnownElements) >= 0 ? "" : shapeText(shape);
       },
       "E0206"},
      {"attribute 'value' has one element",
       [](const NodeView &node) -> std::string {
         if (!node.given("value"))
           return "";
         const HostTensor &value = *node.attribute<HostTensorRef>("value");
         return value.size() == 1 ? "" : shapeText(value.shape);
       },
       "E0206"}};
  entry.build = [](NodeBuilder &node) {
    HostTensor value = HostTensor::ofFloats({}, {0.0F});
    if (node.given("value"))
      value = *node.attribute<HostTensorRef>("value");
    node.result(Tensor::ofKnown(value.select(node.knownInts(0), [](int64_t) { return 0; })));
  };
  return entry;
}

Operator shape(bool hasRange) {
  Operator entry;
  entry.name = "Shape";
  entry.form = "known at import";
  entry.inputs = {{"data", Types::Any}};
  entry.outputs = {{"shape"}};
  if (hasRange)
    entry.attributes = {{"start", AttributeKind::Int, int64_t{0}}, {"end", AttributeKind::Int}};
  entry.build = [](NodeBuilder &node) {
    const Shape &extents = node.in(0).shape;
    int64_t rank = node.in(0).rank();
    auto clamped = [&](const char *name, int64_t otherwise) {
      int64_t at = node.given(name) ? node.axis(node.integer(name), rank) : otherwise;
      return std::clamp<int64_t>(at, 0, rank);
    };
    int64_t start = clamped("start", 0), end = std::max(start, clamped("end", rank));
    Shape part(extents.begin() + start, extents.begin() + end);
    node.result(Tensor::ofKnown(HostTensor::ofInts({end - start}, part)));
  };
  return entry;
}

int64_t truncated(float value, DataType type) {
  double whole = std::trunc(static_cast<double>(value));
  // Not within [-2^63, 2^63): ONNX leaves the result open.
  if (!(whole >= -0x1p63 && whole < 0x1p63))
    throw NodeError{"E0206", fmt::format("{} is cast to {}", value, dataTypeName(type))};
  return wrapToType(static_cast<int64_t>(whole), type);
}

HostTensor casted(const HostTensor &from, DataType type) {
  HostTensor out{type, from.shape, {}, {}};
  bool isBool = type == onnx::TensorProto::BOOL;
  for (float value : from.floats)
    if (isFloatType(type))
      out.floats.push_back(roundToType(value, type));
    else
      out.ints.push_back(isBool ? value != 0 : truncated(value, type));
  for (int64_t value : from.ints)
    if (isFloatType(type))
      out.floats.push_back(roundToType(static_cast<double>(value), type));
    else
      out.ints.push_back(wrapToType(value, type));
  return out;
}

Operator cast(int64_t since) {
  Operator entry;
  entry.name = "Cast";
  entry.form = "known at import; between floating-point types nothing: the machine has one";
  entry.inputs = {{"input", Types::Any}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"to", AttributeKind::Int, std::nullopt, true}};
  if (since >= 19) // concerns 8-bit floats only
    entry.attributes.push_back({"saturate", AttributeKind::Int, int64_t{1}});
  const auto target = [](const NodeView &node) {
    int64_t to = node.integer("to");
    // Checked as int64: the attribute may hold anything.
    return static_cast<DataType>(to >= 0 && to <= 100 ? to : 0);
  };
  entry.requirements = {
      {"attribute 'to' is a float, integer or bool type",
       [target](const NodeView &node) -> std::string {
         DataType type = target(node);
         return isFloatType(type) || isIntegerType(type)
                    ? ""
                    : fmt::format("{} ({})", node.integer("to"), dataTypeName(type));
       }},
      {"a run-time tensor is cast to a floating-point type",
       [target](const NodeView &node) -> std::string {
         return node.in(0).known || isFloatType(target(node)) ? "" : dataTypeName(target(node));
       }}};
  entry.build = [target](NodeBuilder &node) {
    Tensor tensor = node.in(0);
    tensor.type = target(node);
    node.result(std::move(tensor));
  };
  entry.evaluate = [target](NodeBuilder &node) {
    node.result(Tensor::ofKnown(casted(*node.in(0).known, target(node))));
  };
  return entry;
}

} // namespace

void addConstants(OperatorTable &table) {
  table.add({1, 9, 11}, constant());
  table.add({12, 13, 19, 21, 23}, constantWithForms());
  table.add({9, 20, 21, 23}, constantOfShape());
  table.add({1, 13}, shape(false));
  table.add({15, 19, 21, 23}, shape(true));
  table.add({6, 9, 13}, cast(6));
  table.add({19, 21, 23}, cast(19));
}

} // namespace sluice::frontend::ops
