// Constant, and the shape arithmetic that exporters leave: ConstantOfShape,
// Shape, Size, Range, Cast, CastLike. Their results are known at import.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

using Proto = onnx::TensorProto;

const char *const kConstantForms[] = {"value",        "sparse_value", "value_float",
                                      "value_floats", "value_int",    "value_ints"};

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
  return *node.attribute<HostTensorRef>(node.given("sparse_value") ? "sparse_value" : "value");
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

/// From opset 11 on the value may be sparse, from opset 12 on be a number or a list.
Operator constantWithForms(bool hasNumbers) {
  Operator entry = constant();
  entry.attributes = {{"value", AttributeKind::Tensor},
                      {"sparse_value", AttributeKind::SparseTensor}};
  if (hasNumbers)
    entry.attributes.insert(entry.attributes.end(), {{"value_float", AttributeKind::Float},
                                                     {"value_floats", AttributeKind::Floats},
                                                     {"value_int", AttributeKind::Int},
                                                     {"value_ints", AttributeKind::Ints}});
  entry.requirements = {{"exactly one attribute must be given",
                         [](const NodeView &node) -> std::string {
                           auto count =
                               std::count_if(std::begin(kConstantForms), std::end(kConstantForms),
                                             [&](const char *form) { return node.given(form); });
                           return count == 1 ? "" : fmt::format("{}", count);
                         },
                         kShapes}};
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
      {fmt::format("the shape must have no negative extent and at most {} elements",
                   kMostFoldedElements),
       [](const NodeView &node) -> std::string {
         const std::vector<int64_t> &shape = node.knownInts(0);
         return elementCount(shape, kMostFoldedElements) >= 0 ? "" : shapeText(shape);
       },
       kShapes},
      {"attribute 'value' must have one element",
       [](const NodeView &node) -> std::string {
         if (!node.given("value"))
           return "";
         const HostTensor &value = *node.attribute<HostTensorRef>("value");
         return value.size() == 1 ? "" : shapeText(value.shape);
       },
       kShapes}};
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
  entry.form = "known at compile time";
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

Operator size() {
  Operator entry;
  entry.name = "Size";
  entry.form = "known at compile time";
  entry.inputs = {{"data", Types::Any}};
  entry.outputs = {{"size"}};
  entry.build = [](NodeBuilder &node) {
    const Shape &shape = node.in(0).shape;
    node.result(Tensor::ofKnown(HostTensor::ofInts({}, {extentProduct(shape, 0, shape.size())})));
  };
  return entry;
}

double rangeValue(const NodeView &node, size_t input) {
  const HostTensor &known = *node.in(input).known;
  return known.isFloat() ? double{known.floats[0]} : static_cast<double>(known.ints[0]);
}

/// How many elements a Range has: max(ceil((limit - start) / delta), 0).
double rangeCount(const NodeView &node) {
  const double distance = rangeValue(node, 1) - rangeValue(node, 0);
  return std::max(std::ceil(distance / rangeValue(node, 2)), 0.0);
}

Operator range() {
  Operator entry;
  entry.name = "Range";
  entry.form = "a constant";
  entry.inputs = {{"start", Types::Numeric, Presence::Required, true},
                  {"limit", Types::Numeric, Presence::Required, true},
                  {"delta", Types::Numeric, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.requirements = {
      sameTypes(),
      {"the inputs must have one element each",
       [](const NodeView &node) -> std::string {
         for (size_t i = 0; i < 3; ++i)
           if (node.in(i).known->size() != 1)
             return inputShapes(node);
         return "";
       },
       kShapes},
      {"input 'delta' must not be 0",
       [](const NodeView &node) -> std::string { return rangeValue(node, 2) != 0 ? "" : "0"; },
       kShapes},
      {fmt::format("the result must have at most {} elements", kMostFoldedElements),
       [](const NodeView &node) -> std::string {
         const double count = rangeCount(node); // not finite where an input is not
         return count <= static_cast<double>(kMostFoldedElements) ? "" : fmt::format("{}", count);
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const HostTensor &start = *node.in(0).known, &delta = *node.in(2).known;
    const auto count = static_cast<int64_t>(rangeCount(node));
    HostTensor out{start.type, {count}, {}, {}};
    for (int64_t i = 0; i < count; ++i)
      if (start.isFloat())
        out.floats.push_back(
            roundToType(start.floats[0] + static_cast<double>(i) * delta.floats[0], start.type));
      else
        out.ints.push_back(wrapToType(start.ints[0] + i * delta.ints[0], start.type));
    node.result(Tensor::ofKnown(std::move(out)));
  };
  return entry;
}

int64_t truncated(float value, DataType type) {
  double whole = std::trunc(static_cast<double>(value));
  // Not within [-2^63, 2^63): ONNX leaves the result open.
  if (!(whole >= -0x1p63 && whole < 0x1p63))
    throw NodeError{kShapes,
                    fmt::format("{} is out of range for a cast to {}", value, dataTypeName(type))};
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

mlir::Value towardZero(const Scalars &s, mlir::ValueRange x) {
  const mlir::Value up = s.make<mlir::math::CeilOp>(x[0]);
  const mlir::Value down = s.make<mlir::math::FloorOp>(x[0]);
  const mlir::Value negative = s.b.create<mlir::arith::CmpFOp>(
      s.where, mlir::arith::CmpFPredicate::OLT, x[0], s.constant(0));
  return s.b.create<mlir::arith::SelectOp>(s.where, negative, up, down);
}

mlir::Value isNotZero(const Scalars &s, mlir::ValueRange x) {
  const mlir::Value test = s.b.create<mlir::arith::CmpFOp>(s.where, mlir::arith::CmpFPredicate::UNE,
                                                           x[0], s.constant(0));
  return s.b.create<mlir::arith::SelectOp>(s.where, test, s.constant(1), s.constant(0));
}

bool isByteOrBool(DataType type) {
  return type == Proto::INT8 || type == Proto::UINT8 || type == Proto::BOOL;
}

/// The type a node casts to, or UNDEFINED.
using Target = std::function<DataType(const NodeView &)>;

/// Of attribute 'to'.
Requirement namesAType(const Target &target) {
  return {"attribute 'to' must be a float, integer or bool type",
          [target](const NodeView &node) -> std::string {
            const DataType type = target(node);
            if (isFloatType(type) || isIntegerType(type))
              return "";
            return node.opset() < 6
                       ? inQuotes(node.attribute<std::string>("to"))
                       : fmt::format("{} ({})", node.integer("to"), dataTypeName(type));
          }};
}

Operator castTo(const char *name, const Target &target) {
  Operator entry;
  entry.name = name;
  entry.form =
      "known at compile time; else no operation, or map: x rounded toward zero, or x != 0 ? 1 : 0";
  entry.inputs = {{"input", Types::Any}};
  entry.outputs = {{"output"}};
  entry.requirements = {
      {"casts at run time must be to a float type, int32, int64 or bool, or from floats to int8 or "
       "uint8",
       [target](const NodeView &node) -> std::string {
         const DataType type = target(node), from = node.in(0).type;
         const bool any = isFloatType(type) || type == Proto::INT32 || type == Proto::INT64 ||
                          type == Proto::BOOL;
         const bool bytes = isByteOrBool(type) && (isFloatType(from) || from == type);
         return node.in(0).known || any || bytes
                    ? ""
                    : fmt::format("{} to {}", dataTypeName(from), dataTypeName(type));
       }}};
  entry.build = [target](NodeBuilder &node) {
    const DataType type = target(node);
    if (node.in(0).known) {
      node.result(Tensor::ofKnown(casted(*node.in(0).known, type)));
      return;
    }
    // The machine has one type: what becomes a bool is compared, and of what becomes an integer
    // only the fraction goes.
    Tensor tensor = node.in(0);
    if (!isFloatType(tensor.type))
      tensor.range = rangeOf(tensor);
    const std::optional<IntegerRange> range = tensor.range;
    if (type == Proto::BOOL && tensor.type != type)
      tensor = node.emit.pointwise({tensor}, isNotZero);
    else if (isFloatType(tensor.type) && !isFloatType(type))
      tensor = node.emit.pointwise({tensor}, towardZero);
    tensor.type = type;
    tensor.range = range;
    node.result(std::move(tensor));
  };
  return entry;
}

/// From opset 19 on with an attribute that concerns 8-bit floats only.
Operator withSaturate(Operator entry) {
  entry.attributes.push_back({"saturate", AttributeKind::Int, int64_t{1}});
  return entry;
}

/// From opset 24 on with another.
Operator withRounding(Operator entry) {
  entry.attributes.push_back({"round_mode", AttributeKind::String, std::string("up")});
  return entry;
}

/// The type that opset 1 writes by its name, such as "FLOAT".
DataType namedType(const std::string &name) {
  onnx::TensorProto::DataType type = onnx::TensorProto::UNDEFINED;
  return onnx::TensorProto::DataType_Parse(name, &type) ? type : onnx::TensorProto::UNDEFINED;
}

/// Opset 1.
Operator castToNamed() {
  const Target target = [](const NodeView &node) {
    return namedType(node.attribute<std::string>("to"));
  };
  Operator entry = castTo("Cast", target);
  entry.requirements.insert(entry.requirements.begin(), namesAType(target));
  entry.attributes = {{"to", AttributeKind::String, std::nullopt, true}};
  return entry;
}

Operator cast() {
  const Target target = [](const NodeView &node) {
    int64_t to = node.integer("to");
    // Checked as int64: the attribute may hold anything.
    return static_cast<DataType>(to >= 0 && to <= 100 ? to : 0);
  };
  Operator entry = castTo("Cast", target);
  entry.requirements.insert(entry.requirements.begin(), namesAType(target));
  entry.attributes = {{"to", AttributeKind::Int, std::nullopt, true}};
  return entry;
}

Operator castLike() {
  Operator entry = castTo("CastLike", [](const NodeView &node) { return node.in(1).type; });
  entry.inputs.push_back({"target_type", Types::Any});
  return entry;
}

} // namespace

void addConstants(OperatorTable &table) {
  table.add({1, 9}, constant());
  table.add({11}, constantWithForms(false));
  table.add({12, 13, 19, 21, 23, 24, 25}, constantWithForms(true));
  table.add({9, 20, 21, 23, 24, 25}, constantOfShape());
  table.add({1, 13}, shape(false));
  table.add({15, 19, 21, 23, 24, 25}, shape(true));
  table.add({1, 13, 19, 21, 23, 24, 25}, size());
  table.add({11}, range());
  table.add({1}, castToNamed());
  table.add({6, 9, 13}, cast());
  table.add({19, 21, 23}, withSaturate(cast()));
  table.add({24, 25}, withRounding(withSaturate(cast())));
  table.add({15}, castLike());
  table.add({19, 21, 23}, withSaturate(castLike()));
  table.add({24, 25}, withRounding(withSaturate(castLike())));
}

} // namespace sluice::frontend::ops
