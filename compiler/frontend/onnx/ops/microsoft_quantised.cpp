// com.microsoft: layers from quantised tensors to a quantised one. Each restores its operands,
// computes, and quantises the result.
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/pooling.h"
#include "compiler/frontend/onnx/ops/quantised.h"
#include "compiler/frontend/onnx/ops/softmax.h"

namespace sluice::frontend::ops {
namespace {

/// The inputs of an operand: the tensor, its scale and its zero point.
constexpr size_t kPart = 3;

/// The element of an input that has one, 0 for one that is left out.
float numberOf(const NodeView &node, size_t input) {
  return node.has(input) ? asFloats(node.in(input)).known->floats[0] : 0;
}

/// Requires the tensors and the zero points that are given to have one type.
Requirement oneByteType(std::vector<size_t> inputs) {
  return {"the tensors and their zero points must have the same element type",
          [inputs = std::move(inputs)](const NodeView &node) -> std::string {
            for (const size_t i : inputs)
              if (node.has(i) && node.in(i).type != node.in(0).type)
                return fmt::format("{} and {}", dataTypeName(node.in(0).type),
                                   dataTypeName(node.in(i).type));
            return "";
          },
          kShapes};
}

/// The inputs of an operator: `operands` quantised tensors, each with its scale and zero point,
/// then the scale and the zero point of the result.
struct Layer {
  size_t operands;
  std::vector<const char *> names; ///< of all inputs

  size_t resultScale() const { return operands * kPart; }
  size_t resultZero() const { return resultScale() + 1; }
  DataType type(const NodeView &node) const { return node.in(0).type; }
  /// An operand as real numbers.
  Tensor real(NodeBuilder &node, size_t operand) const {
    return restored(node.emit, node.in(operand * kPart), numberOf(node, operand * kPart + 1),
                    numberOf(node, operand * kPart + 2), node.in(1).type);
  }
  /// The integers that stand for the result.
  Tensor integers(NodeBuilder &node, const Tensor &y) const {
    return quantised(node.emit, y, numberOf(node, resultScale()), numberOf(node, resultZero()),
                     type(node));
  }
};

/// Sets the inputs of an entry, and puts what they require before its other requirements.
Operator quantisedLayer(Operator entry, const char *name, const Layer &layer, Presence zero) {
  entry.domain = "com.microsoft";
  entry.name = name;
  entry.inputs.clear();
  std::vector<Requirement> all;
  std::vector<size_t> bytes, single;
  std::vector<std::string> names;
  for (size_t i = 0; i < layer.names.size(); ++i) {
    const char *input = layer.names[i];
    const bool isTensor = i < layer.resultScale() && i % kPart == 0;
    const bool isScale = i < layer.resultScale() ? i % kPart == 1 : i == layer.resultScale();
    entry.inputs.push_back(isTensor  ? InputSpec{input, Types::Numeric}
                           : isScale ? scaleInput(input)
                                     : zeroInput(input, zero));
    if (isTensor)
      all.push_back(isByteInput(i, input));
    if (!isScale)
      bytes.push_back(i);
    if (!isTensor) {
      single.push_back(i);
      names.push_back(fmt::format("'{}'", input));
    }
  }
  const std::string last = names.back();
  names.pop_back();
  all.push_back(oneByteType(bytes));
  all.push_back(oneElement(single, fmt::format("{} and {}", fmt::join(names, ", "), last)));
  for (const size_t i : single)
    if (entry.inputs[i].types == Types::Float)
      all.push_back(positive(i, layer.names[i]));
  entry.requirements.insert(entry.requirements.begin(), all.begin(), all.end());
  return entry;
}

/// A function of real numbers.
using Body = std::function<mlir::Value(const Scalars &, mlir::ValueRange, const NodeView &)>;

/// An element-by-element function of restored tensors.
Operator quantisedMap(const char *name, const char *form, const Layer &layer, Body body) {
  Operator entry;
  entry.form = form;
  entry.outputs = {{layer.operands == 1 ? "Y" : "C"}};
  if (layer.operands == 2)
    entry.requirements = {{"inputs 'A' and 'B' must broadcast to one shape",
                           [](const NodeView &node) -> std::string {
                             const Shape &a = node.in(0).shape, &b = node.in(kPart).shape;
                             return broadcastShape({a, b})
                                        ? ""
                                        : fmt::format("{} and {}", shapeText(a), shapeText(b));
                           },
                           kShapes}};
  entry.build = [layer, body = std::move(body)](NodeBuilder &node) {
    std::vector<Tensor> operands;
    for (size_t i = 0; i < layer.operands; ++i)
      operands.push_back(layer.real(node, i));
    const Tensor y = node.emit.pointwise(
        operands, [&](const Scalars &s, mlir::ValueRange v) { return body(s, v, node); });
    node.result(layer.integers(node, y));
  };
  return quantisedLayer(std::move(entry), name, layer, Presence::Optional);
}

/// Quantises averages. `sums` are those of integers less their zero point, `factors` one over the
/// numbers of integers. `order` permutes the axes of the result; empty: they stay.
void quantiseAverages(NodeBuilder &node, const Layer &layer, const Tensor &sums,
                      const Tensor &factors, const Shape &order) {
  const double ratio = double{numberOf(node, 1)} / numberOf(node, layer.resultScale());
  HostTensor scaled = *factors.known;
  for (float &factor : scaled.floats)
    factor = static_cast<float>(factor * ratio);
  const Tensor y = node.emit.pointwise(
      {sums, Tensor::ofKnown(std::move(scaled))}, [&](const Scalars &s, mlir::ValueRange v) {
        return quantised(s, s.mul(v[0], v[1]), s.constant(numberOf(node, layer.resultZero())),
                         layer.type(node));
      });
  node.result(ofType(order.empty() ? y : node.emit.transpose(y, order), layer.type(node)));
}

const Layer kPooling = {1, {"X", "x_scale", "x_zero_point", "y_scale", "y_zero_point"}};

AttributeSpec channelsLast() {
  return {"channels_last", AttributeKind::Int, int64_t{0}, false, {0, 1}};
}

Operator averagePool(const OperatorTable &table) {
  Operator entry = *table.find("", "AveragePool", 11);
  entry.form = "map: - zero point, window, reduce sum, map: min(max(round(x * scale / elements) + "
               "zero, low), high)";
  entry.attributes.push_back(channelsLast());
  entry.build = [](NodeBuilder &node) {
    Tensor x = centred(node, 0, 2);
    Shape order;
    if (firstSpatialAxis(node) == 1) { // the channels go behind the batch, and back
      Shape turned(x.rank());
      std::iota(turned.begin() + 1, turned.end(), 0);
      turned[1] = x.rank() - 1;
      turned[0] = 0;
      x = node.emit.transpose(x, turned);
      order.resize(x.rank());
      std::iota(order.begin(), order.end(), 1);
      order[0] = 0;
      order.back() = 1;
    }
    const auto [sums, factors] = windowSums(node, x);
    quantiseAverages(node, kPooling, sums, factors, order);
  };
  return quantisedLayer(std::move(entry), "QLinearAveragePool", kPooling, Presence::Optional);
}

Operator globalAveragePool() {
  Operator entry;
  entry.form = "map: - zero point, reduce sum, map: min(max(round(x * scale / elements) + zero, "
               "low), high)";
  entry.outputs = {{"Y"}};
  entry.attributes = {channelsLast()};
  entry.requirements = {hasSpatialAxes()};
  entry.build = [](NodeBuilder &node) {
    const Tensor x = centred(node, 0, 2);
    Shape axes(x.rank() - 2);
    std::iota(axes.begin(), axes.end(), static_cast<int64_t>(firstSpatialAxis(node)));
    double elements = 1;
    for (const int64_t axis : axes)
      elements *= static_cast<double>(x.shape[axis]);
    quantiseAverages(node, kPooling, node.emit.reduce(ir::Monoid::Sum, x, axes, true),
                     Tensor::ofKnown(HostTensor::ofFloats({}, {static_cast<float>(1 / elements)})),
                     {});
  };
  return quantisedLayer(std::move(entry), "QLinearGlobalAveragePool", kPooling, Presence::Required);
}

/// Up to opset 12 a softmax takes the axes from 'axis' on as one, from 13 on 'axis' alone.
bool softmaxFlattens(const NodeView &node) { return node.integer("opset") < 13; }

Shape softmaxAxes(const NodeView &node) {
  const int64_t rank = node.in(0).rank(), first = node.axis(node.integer("axis"), rank);
  Shape axes(softmaxFlattens(node) ? rank - first : 1);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Operator qLinearSoftmax() {
  const Layer layer = {1, {"X", "X_scale", "x_zero_point", "y_scale", "y_zero_point"}};
  Operator entry;
  entry.form = "map: restored operand, as Softmax of opset 'opset', map: quantised";
  entry.outputs = {{"Y"}};
  // The schema of onnxruntime has this default for all opsets; Softmax itself has 1 up to opset 12.
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{-1}},
                      {"opset", AttributeKind::Int, std::nullopt, true}};
  entry.requirements = {{"attribute 'axis' must be in [-rank, rank-1] of input 'X'",
                         [](const NodeView &node) -> std::string {
                           return axesProblem({node.integer("axis")}, node.in(0).rank());
                         },
                         kShapes}};
  entry.build = [layer](NodeBuilder &node) {
    const Tensor y = softmax(node.emit, layer.real(node, 0), softmaxAxes(node), false);
    node.result(layer.integers(node, y));
  };
  return quantisedLayer(std::move(entry), "QLinearSoftmax", layer, Presence::Optional);
}

/// The inputs of QLinearConcat before those of its parts.
enum ConcatInput : size_t { kYScale, kYZero, kParts };

/// Requires the list of inputs to consist of tensors, each with its scale and its zero point.
Requirement concatParts() {
  return {"'inputs' must be tensors of int8 or uint8, each followed by its scale and by a zero "
          "point of its type",
          [](const NodeView &node) -> std::string {
            if ((node.inputCount() - kParts) % kPart != 0)
              return fmt::format("{} inputs", node.inputCount() - kParts);
            for (size_t i = kParts; i < node.inputCount(); i += kPart) {
              const DataType types[] = {node.in(i).type, node.in(i + 1).type, node.in(i + 2).type};
              if (!isByte(types[0]) || !isFloatType(types[1]) || types[2] != types[0])
                return fmt::format("{}, {}, {}", dataTypeName(types[0]), dataTypeName(types[1]),
                                   dataTypeName(types[2]));
            }
            return "";
          },
          kShapes};
}

/// Requires scales and zero points of the parts to be single numbers that are known.
Requirement partsAreKnown() {
  return {"the scales and zero points of 'inputs' must have one element each, known at compile "
          "time",
          [](const NodeView &node) -> std::string {
            for (size_t i = kParts; i < node.inputCount(); ++i)
              if (const Tensor &input = node.in(i); (i - kParts) % kPart != 0)
                if (!input.known || input.known->size() != 1)
                  return describe(input);
            return "";
          }};
}

Requirement positiveParts() {
  return {"every scale of 'inputs' must be finite and above 0",
          [](const NodeView &node) -> std::string {
            for (size_t i = kParts + 1; i < node.inputCount(); i += kPart)
              if (const float scale = numberOf(node, i); !(scale > 0) || !std::isfinite(scale))
                return fmt::format("{}", scale);
            return "";
          },
          kShapes};
}

Requirement partsFit() {
  return {"attribute 'axis' must be in [-rank, rank-1] of the tensors, whose shapes must be equal "
          "except along it",
          [](const NodeView &node) -> std::string {
            const Shape &first = node.in(kParts).shape;
            const int64_t rank = node.in(kParts).rank(),
                          axis = node.axis(node.integer("axis"), rank);
            if (axis < 0 || axis >= rank)
              return fmt::format("axis {} for rank {}", node.integer("axis"), rank);
            for (size_t i = kParts; i < node.inputCount(); i += kPart) {
              Shape shape = node.in(i).shape;
              if (shape.size() == first.size())
                shape[axis] = first[axis];
              if (shape != first)
                return fmt::format("{} and {}", shapeText(first), shapeText(node.in(i).shape));
            }
            return "";
          },
          kShapes};
}

/// A part of QLinearConcat in the quantisation of the result.
Tensor requantised(NodeBuilder &node, size_t part) {
  Tensor x = asFloats(node.in(part));
  const DataType type = node.in(kYZero).type;
  const float scale = numberOf(node, part + 1), zero = numberOf(node, part + 2);
  const float yScale = numberOf(node, kYScale), yZero = numberOf(node, kYZero);
  if (scale == yScale && zero == yZero && node.in(part).type == type)
    return x;
  const Tensor numbers = restored(node.emit, x, scale, zero, node.in(part + 1).type);
  return quantised(node.emit, numbers, yScale, yZero, type);
}

Operator concat() {
  Operator entry;
  entry.domain = "com.microsoft";
  entry.name = "QLinearConcat";
  entry.form = "map: min(max(round((x - zero) * scale / scale of Y) + zero of Y, low), high), then "
               "concat";
  entry.inputs = {scaleInput("Y_scale"),
                  zeroInput("Y_zero_point"),
                  {"inputs", Types::Numeric, Presence::Variadic}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"axis", AttributeKind::Int, std::nullopt, true}};
  entry.requirements = {isByteInput(kYZero, "Y_zero_point"),
                        oneElement({kYScale, kYZero}, "'Y_scale' and 'Y_zero_point'"),
                        positive(kYScale, "Y_scale"),
                        concatParts(),
                        partsAreKnown(),
                        positiveParts(),
                        partsFit()};
  entry.build = [](NodeBuilder &node) {
    std::vector<Tensor> parts;
    for (size_t i = kParts; i < node.inputCount(); i += kPart)
      parts.push_back(requantised(node, i));
    const int64_t axis = node.axis(node.integer("axis"), parts.front().rank());
    node.result(ofType(node.emit.concat(parts, axis), node.in(kYZero).type));
  };
  return entry;
}

} // namespace

void addMicrosoftQuantised(OperatorTable &table) {
  const Layer binary = {
      2,
      {"A", "A_scale", "A_zero_point", "B", "B_scale", "B_zero_point", "C_scale", "C_zero_point"}};
  const Layer unary = {1, {"X", "X_scale", "X_zero_point", "Y_scale", "Y_zero_point"}};
  table.add({1}, quantisedMap("QLinearAdd", "map: restored operands, a + b, quantised", binary,
                              [](const Scalars &s, mlir::ValueRange v, const NodeView &) {
                                return s.add(v[0], v[1]);
                              }));
  table.add({1}, quantisedMap("QLinearMul", "map: restored operands, a * b, quantised", binary,
                              [](const Scalars &s, mlir::ValueRange v, const NodeView &) {
                                return s.mul(v[0], v[1]);
                              }));
  table.add({1},
            quantisedMap("QLinearSigmoid", "map: restored operand, 1 / (1 + exp(-x)), quantised",
                         unary, [](const Scalars &s, mlir::ValueRange v, const NodeView &) {
                           return s.sigmoid(v[0]);
                         }));
  Operator leaky =
      quantisedMap("QLinearLeakyRelu", "map: restored operand, x < 0 ? alpha * x : x, quantised",
                   unary, [](const Scalars &s, mlir::ValueRange v, const NodeView &node) {
                     return s.leakyRelu(v[0], node.real("alpha"));
                   });
  leaky.attributes = {{"alpha", AttributeKind::Float, 0.01F}};
  table.add({1}, std::move(leaky));
  table.add({1}, qLinearSoftmax());
  table.add({1}, concat());
  table.add({1}, averagePool(table));
  table.add({1}, globalAveragePool());
}

} // namespace sluice::frontend::ops
