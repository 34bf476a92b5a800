// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/quantised.h"

namespace sluice::frontend::ops {
namespace {

using Proto = onnx::TensorProto;

DataType quantisedType(const NodeView &node, size_t zero) {
  if (node.given("output_dtype") && node.integer("output_dtype") != 0)
    return static_cast<DataType>(node.integer("output_dtype"));
  return node.has(zero) ? node.in(zero).type : DataType{Proto::UINT8};
}

int64_t quantisedAxis(const NodeView &node) {
  return node.given("axis") && node.in(0).rank() > 0
             ? node.axis(node.integer("axis"), node.in(0).rank())
             : 0;
}

/// How the host does it; nothing if it is not the same for all elements, or not known.
std::optional<format::Quantisation> quantisationOf(const NodeView &node, DataType type) {
  const auto isOne = [&](size_t input) {
    return node.in(input).known && node.in(input).known->size() == 1;
  };
  if (!isByte(type) || !isOne(1) || (node.has(2) && (!isOne(2) || node.in(2).type != type)))
    return std::nullopt;
  const IntegerRange range = rangeOf(type);
  return format::Quantisation{
      node.in(1).known->floats[0],
      node.has(2) ? static_cast<int32_t>(node.in(2).known->ints[0]) : 0,
      {static_cast<int64_t>(range.least), static_cast<int64_t>(range.most)}};
}

/// What QuantizeLinear and DequantizeLinear share; input 'axis' from opset 13 on.
Operator scaled(const char *name, const char *form, const char *scale, const char *zero,
                bool hasAxis) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {
      {"x", Types::Numeric}, {scale, Types::Float}, {zero, Types::Numeric, Presence::Optional}};
  entry.outputs = {{"y"}};
  if (hasAxis) {
    entry.attributes = {{"axis", AttributeKind::Int, int64_t{1}}};
    entry.requirements.push_back({"attribute 'axis' must be in [-rank, rank-1] of input 'x' unless "
                                  "the scale has one element",
                                  [](const NodeView &node) -> std::string {
                                    return elementCount(node.in(1).shape, kMaxElements) == 1
                                               ? ""
                                               : axesProblem({node.integer("axis")},
                                                             node.in(0).rank());
                                  },
                                  kShapes});
  }
  const auto places = [](const NodeView &node) {
    return node.given("axis") ? node.in(0).shape[quantisedAxis(node)] : 1;
  };
  entry.requirements.push_back(positive(1, scale));
  entry.requirements.push_back(perTensorOr(1, scale, 0, "position of 'axis'", places));
  entry.requirements.push_back(
      {fmt::format("input '{}' must have the shape of '{}'", zero, scale),
       [](const NodeView &node) -> std::string {
         const auto isOne = [&](size_t i) {
           return elementCount(node.in(i).shape, kMaxElements) == 1;
         };
         return !node.has(2) || node.in(2).shape == node.in(1).shape || (isOne(1) && isOne(2))
                    ? ""
                    : shapeText(node.in(2).shape) + " and " + shapeText(node.in(1).shape);
       },
       kShapes});
  return entry;
}

Operator quantizeLinear(bool hasAxis) {
  Operator entry = scaled("QuantizeLinear", "map: min(max(round(x / scale) + zero, low), high)",
                          "y_scale", "y_zero_point", hasAxis);
  entry.inputs[0].types = Types::Float;
  entry.requirements.push_back(isByteInput(2, "y_zero_point"));
  entry.build = [](NodeBuilder &node) {
    const int64_t axis = quantisedAxis(node), rank = node.in(0).rank();
    const DataType type = quantisedType(node, 2);
    const auto how = quantisationOf(node, type);
    const Tensor scale = along(node.emit, node.in(1), axis, rank);
    const Tensor zero = zeroPoint(node, 2, axis, rank);
    const auto quantise = [&](const Tensor &x) {
      if (how)
        if (const auto made = node.emit.quantisedInput(x, *how))
          return ofType(*made, type);
      return ofType(node.emit.pointwise({x, scale, zero},
                                        [type](const Scalars &s, mlir::ValueRange v) {
                                          return quantised(s, s.div(v[0], v[1]), v[2], type);
                                        }),
                    type);
    };
    // In front of views, the numbers are quantised where they are computed: before any of them is
    // rounded to bf16. An input of the model is quantised by the host.
    if (scale.rank() == 0 && zero.rank() == 0)
      if (auto views = node.emit.throughViews(node.in(0), quantise)) {
        node.result(std::move(*views));
        return;
      }
    node.result(quantise(node.in(0)));
  };
  return entry;
}

/// From opset 21 on; blocks of an axis with scales of their own are not taken.
Operator withBlocks(Operator entry) {
  entry.attributes.push_back({"block_size", AttributeKind::Int, int64_t{0}, false, {0}});
  return entry;
}

/// From opset 21 on the type of the result may be named.
Operator withOutputType(Operator entry) {
  entry.attributes.push_back({"output_dtype",
                              AttributeKind::Int,
                              int64_t{0},
                              false,
                              {0, int64_t{Proto::UINT8}, int64_t{Proto::INT8}}});
  entry.requirements.push_back(
      {"attribute 'output_dtype' must be 0 or the type of 'y_zero_point', if that is given",
       [](const NodeView &node) -> std::string {
         return !node.has(2) || quantisedType(node, 2) == node.in(2).type
                    ? ""
                    : fmt::format("{} and {}", node.integer("output_dtype"),
                                  dataTypeName(node.in(2).type));
       },
       kShapes});
  return entry;
}

/// That of the scale, or from opset 23 on the one that is named.
DataType restoredType(const NodeView &node) {
  const bool isNamed = node.given("output_dtype") && node.integer("output_dtype") != 0;
  return isNamed ? static_cast<DataType>(node.integer("output_dtype")) : node.in(1).type;
}

Operator dequantizeLinear(bool hasAxis) {
  Operator entry =
      scaled("DequantizeLinear", "map: (x - zero) * scale; at compile time for a constant",
             "x_scale", "x_zero_point", hasAxis);
  entry.requirements.push_back(
      {"input 'x' must be int8, uint8 or, if known at compile time, an integer of 4 to 32 bits",
       [](const NodeView &node) -> std::string {
         const DataType type = node.in(0).type;
         const bool isNarrow = isIntegerType(type) && type != Proto::INT64 &&
                               type != Proto::UINT64 && type != Proto::BOOL;
         return isByte(type) || (node.in(0).known && isNarrow) ? "" : dataTypeName(type);
       }});
  entry.build = [](NodeBuilder &node) {
    const int64_t axis = quantisedAxis(node), rank = node.in(0).rank();
    Tensor result = ofType(
        node.emit.pointwise(
            {node.in(0), along(node.emit, node.in(1), axis, rank), zeroPoint(node, 2, axis, rank)},
            [](const Scalars &s, mlir::ValueRange v) { return restored(s, v[0], v[1], v[2]); }),
        restoredType(node));
    if (const auto how = quantisationOf(node, node.in(0).type))
      node.emit.setRestored(result, {node.emit.value(node.in(0)), *how});
    node.result(std::move(result));
  };
  entry.evaluate = [](NodeBuilder &node) {
    const HostTensor &x = *node.in(0).known;
    const Tensor scale = along(node.emit, node.in(1), quantisedAxis(node), node.in(0).rank());
    const Tensor zero = zeroPoint(node, 2, quantisedAxis(node), node.in(0).rank());
    HostTensor out{restoredType(node), x.shape, {}, {}};
    for (int64_t i = 0; i < x.size(); ++i) {
      const double offset = zero.known->floats[broadcastIndex(zero.shape, x.shape, i)];
      const double by = scale.known->floats[broadcastIndex(scale.shape, x.shape, i)];
      out.floats.push_back(roundToType((static_cast<double>(x.ints[i]) - offset) * by, out.type));
    }
    Tensor result = Tensor::ofKnown(std::move(out), node.in(0).name);
    if (isByte(node.in(0).type)) {
      HostTensor factors{Proto::FLOAT, x.shape, {}, {}};
      for (int64_t i = 0; i < x.size(); ++i)
        factors.floats.push_back(static_cast<float>(x.ints[i]) -
                                 zero.known->floats[broadcastIndex(zero.shape, x.shape, i)]);
      Shape ones(x.shape.size() - scale.shape.size(), 1);
      ones.insert(ones.end(), scale.shape.begin(), scale.shape.end());
      result.factors = std::make_shared<const HostTensor>(std::move(factors));
      result.factorScales = std::make_shared<const HostTensor>(withShape(*scale.known, ones));
    }
    node.result(std::move(result));
  };
  return entry;
}

void buildDynamic(NodeBuilder &node) {
  const auto [y, scale, zero] = dynamicallyQuantised(node.emit, node.in(0));
  node.result(0, y);
  node.result(1, scale);
  node.result(2, zero);
}

Operator dynamicQuantizeLinear() {
  Operator entry;
  entry.name = "DynamicQuantizeLinear";
  entry.form = "reduce min and max, map: scale, map: zero point, map: min(max(round(x / scale) + "
               "zero, 0), 255)";
  entry.inputs = {{"x"}};
  entry.outputs = {{"y"}, {"y_scale"}, {"y_zero_point"}};
  entry.build = buildDynamic;
  return entry;
}

} // namespace

void addQuantisation(OperatorTable &table) {
  table.add({10}, quantizeLinear(false));
  table.add({13}, quantizeLinear(true));
  table.add({10}, dequantizeLinear(false));
  table.add({13}, dequantizeLinear(true));
  Operator saturating = quantizeLinear(true);
  saturating.attributes.push_back({"saturate", AttributeKind::Int, int64_t{1}, false, {0, 1}});
  table.add({19}, saturating);
  table.add({19}, dequantizeLinear(true));
  Operator blocked = withOutputType(withBlocks(saturating));
  table.add({21}, blocked);
  blocked.attributes.push_back({"precision", AttributeKind::Int, int64_t{0}, false, {0}});
  table.add({23, 24, 25}, blocked);
  Operator restoring = withBlocks(dequantizeLinear(true));
  table.add({21}, restoring);
  restoring.attributes.push_back(
      {"output_dtype",
       AttributeKind::Int,
       int64_t{0},
       false,
       {0, int64_t{Proto::FLOAT}, int64_t{Proto::FLOAT16}, int64_t{Proto::BFLOAT16}}});
  table.add({23, 24, 25}, restoring);
  table.add({11}, dynamicQuantizeLinear());
}

} // namespace sluice::frontend::ops
