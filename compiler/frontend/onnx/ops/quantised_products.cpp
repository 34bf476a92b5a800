// QLinearMatMul, QLinearConv, MatMulInteger, ConvInteger: sums of products of quantised tensors are
// rounded to bf16 before they are scaled.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/convolution.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/quantised.h"

namespace sluice::frontend::ops {
namespace {

using Proto = onnx::TensorProto;

/// The integers of input `input` less their zero point, which bf16 has exactly.
Tensor centred(NodeBuilder &node, size_t input, size_t zero, int64_t axis) {
  const Tensor &x = node.in(input);
  const Tensor offset = zeroPoint(node, zero, axis, x.rank());
  if (x.known) {
    HostTensor out{Proto::FLOAT, x.shape, {}, {}};
    for (int64_t i = 0; i < x.known->size(); ++i)
      out.floats.push_back(static_cast<float>(x.known->ints[i]) -
                           offset.known->floats[broadcastIndex(offset.shape, x.shape, i)]);
    return Tensor::ofKnown(std::move(out), x.name);
  }
  return node.emit.pointwise(
      {x, offset}, [](const Scalars &s, mlir::ValueRange v) { return s.sub(v[0], v[1]); });
}

/// How the inputs of an operator on quantised tensors are numbered; 0: it has none.
struct Places {
  size_t a = 0, aScale = 0, aZero = 0, b = 0, bScale = 0, bZero = 0, yScale = 0, yZero = 0;
};

constexpr Places kLinear = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr Places kInteger = {.a = 0, .aZero = 2, .b = 1, .bZero = 3};

/// Sums of products to quantised ones: round(sum * (scales of a and b / that of y)) + zero.
Tensor requantised(NodeBuilder &node, const Tensor &sums, const Tensor &bias, int64_t axis) {
  const HostTensor &b = *node.in(kLinear.bScale).known;
  HostTensor factors{Proto::FLOAT, b.shape, {}, {}};
  for (const float scale : b.floats)
    factors.floats.push_back(
        static_cast<float>(double{scale} * node.in(kLinear.aScale).known->floats[0] /
                           node.in(kLinear.yScale).known->floats[0]));
  const Tensor factor = along(node.emit, Tensor::ofKnown(std::move(factors)), axis, sums.rank());
  const DataType type = node.in(kLinear.yZero).type;
  return ofType(node.emit.pointwise({sums, factor, zeroPoint(node, kLinear.yZero, 0, 0), bias},
                                    [type](const Scalars &s, mlir::ValueRange v) {
                                      return quantised(s, s.mul(s.add(v[0], v[3]), v[1]), v[2],
                                                       type);
                                    }),
                type);
}

Tensor nothing() { return Tensor::ofKnown(HostTensor::ofFloats({}, {0})); }

InputSpec scaleInput(const char *name) { return {name, Types::Float, Presence::Required, true}; }

InputSpec zeroInput(const char *name, Presence presence = Presence::Required) {
  return {name, Types::Numeric, presence, true};
}

Requirement oneElement(std::vector<size_t> inputs, const std::string &names) {
  return {inputs.size() == 1 ? fmt::format("input {} must have one element", names)
                             : fmt::format("inputs {} must have one element each", names),
          [inputs = std::move(inputs)](const NodeView &node) -> std::string {
            for (const size_t i : inputs)
              if (node.has(i) && elementCount(node.in(i).shape, kMaxElements) != 1)
                return shapeText(node.in(i).shape);
            return "";
          }};
}

/// Requires the weights and everything that belongs to them to be bytes that fit together.
std::vector<Requirement> quantisedOperands(const Places &at, const char *a, const char *b,
                                           const char *feature, size_t featureAxis) {
  const auto count = [at, featureAxis](const NodeView &node) {
    const Shape &shape = node.in(at.b).shape;
    if (shape.empty())
      return int64_t{0};
    return featureAxis < shape.size() ? shape[featureAxis] : shape.back();
  };
  std::vector<Requirement> out = {isByteInput(at.a, a), isByteInput(at.b, b)};
  if (at.bScale != 0)
    out.push_back(perTensorOr(at.bScale, std::string(b) + "_scale", at.b, feature, count));
  out.push_back({"the second operand must have one zero point, or one per " + std::string(feature) +
                     ", of its own type",
                 [at, count](const NodeView &node) -> std::string {
                   if (!node.has(at.bZero))
                     return "";
                   const Tensor &zero = node.in(at.bZero);
                   const bool fits = elementCount(zero.shape, kMaxElements) == 1 ||
                                     zero.shape == Shape{count(node)};
                   return fits && zero.type == node.in(at.b).type
                              ? ""
                              : dataTypeName(zero.type) + " " + shapeText(zero.shape);
                 },
                 "E0206"});
  return out;
}

Requirement productFits(const Places &at) {
  return {"the contracted extents must be equal, and the leading axes must broadcast",
          [at](const NodeView &node) -> std::string {
            const Shape &a = node.in(at.a).shape, &b = node.in(at.b).shape;
            const bool ranks = a.size() >= 2 && b.size() >= 2;
            const bool fits = ranks && a.back() == b[b.size() - 2] &&
                              broadcastShape({{a.begin(), a.end() - 2}, {b.begin(), b.end() - 2}});
            return fits ? "" : shapeText(a) + " and " + shapeText(b);
          },
          "E0206"};
}

Tensor integerProduct(NodeBuilder &node, const Places &at) {
  const int64_t last = node.in(at.b).rank() - 1;
  return node.emit.matmul(centred(node, at.a, at.aZero, 0), centred(node, at.b, at.bZero, last));
}

Operator matMulInteger() {
  Operator entry;
  entry.name = "MatMulInteger";
  entry.form = "map: - zero point, matmul, whose sums are rounded to bf16";
  entry.inputs = {{"A", Types::Numeric},
                  {"B", Types::Numeric},
                  zeroInput("a_zero_point", Presence::Optional),
                  zeroInput("b_zero_point", Presence::Optional)};
  entry.outputs = {{"Y"}};
  entry.requirements = quantisedOperands(kInteger, "A", "B", "column of 'B'", SIZE_MAX);
  entry.requirements.push_back(oneElement({2}, "'a_zero_point'"));
  entry.requirements.push_back(productFits(kInteger));
  entry.build = [](NodeBuilder &node) {
    node.result(ofType(integerProduct(node, kInteger), Proto::INT32));
  };
  return entry;
}

/// What holds of scales and zero points where the result is quantised as well.
std::vector<Requirement> quantisedResult(const std::string &a, const std::string &b) {
  const std::string aScale = a + "_scale", bScale = b + "_scale";
  return {isByteInput(kLinear.yZero, "y_zero_point"),
          oneElement({kLinear.aScale, kLinear.aZero, kLinear.yScale, kLinear.yZero},
                     fmt::format("'{0}_scale', '{0}_zero_point', 'y_scale' and 'y_zero_point'", a)),
          positive(kLinear.aScale, aScale), positive(kLinear.bScale, bScale),
          positive(kLinear.yScale, "y_scale")};
}

Operator qLinearMatMul() {
  Operator entry;
  entry.name = "QLinearMatMul";
  entry.form = "map: - zero point, matmul, map: min(max(round(x * scale) + zero, low), high)";
  entry.inputs = {{"a", Types::Numeric}, scaleInput("a_scale"),    zeroInput("a_zero_point"),
                  {"b", Types::Numeric}, scaleInput("b_scale"),    zeroInput("b_zero_point"),
                  scaleInput("y_scale"), zeroInput("y_zero_point")};
  entry.outputs = {{"y"}};
  entry.requirements = quantisedOperands(kLinear, "a", "b", "column of 'b'", SIZE_MAX);
  for (Requirement &one : quantisedResult("a", "b"))
    entry.requirements.push_back(std::move(one));
  entry.requirements.push_back(productFits(kLinear));
  entry.build = [](NodeBuilder &node) {
    const Tensor sums = integerProduct(node, kLinear);
    node.result(requantised(node, sums, nothing(), sums.rank() - 1));
  };
  return entry;
}

/// Conv's attributes, and what holds of them and of the shapes.
void asConvolution(Operator &entry, const ConvInputs &at) {
  entry.attributes = windowAttributes();
  entry.attributes.push_back({"group", AttributeKind::Int, int64_t{1}});
  for (Requirement &one : convolutionFits(at))
    entry.requirements.push_back(std::move(one));
}

/// The pads are zero points, which centred are 0.
Tensor integerConvolution(NodeBuilder &node, const Places &at) {
  const Tensor x = centred(node, at.a, at.aZero, 0);
  return convolve(node.emit, x, centred(node, at.b, at.bZero, 0),
                  windowAxes(node, kernelOf(node, at.b)), node.integer("group"));
}

Operator convInteger() {
  Operator entry;
  entry.name = "ConvInteger";
  entry.form =
      "map: - zero point, window, then contract with the weights of all groups, whose sums "
      "are rounded to bf16";
  entry.inputs = {{"x", Types::Numeric},
                  {"w", Types::Numeric, Presence::Required, true},
                  zeroInput("x_zero_point", Presence::Optional),
                  zeroInput("w_zero_point", Presence::Optional)};
  entry.outputs = {{"y"}};
  entry.requirements = quantisedOperands(kInteger, "x", "w", "output channel of 'w'", 0);
  entry.requirements.push_back(oneElement({2}, "'x_zero_point'"));
  asConvolution(entry, {.weights = kInteger.b, .bias = std::nullopt, .x = "x", .w = "w"});
  entry.build = [](NodeBuilder &node) {
    node.result(ofType(integerConvolution(node, kInteger), Proto::INT32));
  };
  return entry;
}

Operator qLinearConv() {
  constexpr size_t kBias = 8;
  Operator entry;
  entry.name = "QLinearConv";
  entry.form = "map: - zero point, window, then contract with the weights of all groups, map: "
               "min(max(round((x + B) * scale) + zero, low), high)";
  entry.inputs = {{"x", Types::Numeric},
                  scaleInput("x_scale"),
                  zeroInput("x_zero_point"),
                  {"w", Types::Numeric, Presence::Required, true},
                  scaleInput("w_scale"),
                  zeroInput("w_zero_point"),
                  scaleInput("y_scale"),
                  zeroInput("y_zero_point"),
                  {"B", Types::Integer, Presence::Optional, true}};
  entry.outputs = {{"y"}};
  entry.requirements = quantisedOperands(kLinear, "x", "w", "output channel of 'w'", 0);
  for (Requirement &one : quantisedResult("x", "w"))
    entry.requirements.push_back(std::move(one));
  asConvolution(entry, {.weights = kLinear.b, .bias = kBias, .x = "x", .w = "w"});
  entry.build = [](NodeBuilder &node) {
    const Tensor sums = integerConvolution(node, kLinear);
    const Tensor bias =
        node.has(kBias) ? along(node.emit, node.in(kBias), 1, sums.rank()) : nothing();
    node.result(requantised(node, sums, bias, 1));
  };
  return entry;
}

} // namespace

void addQuantisedProducts(OperatorTable &table) {
  table.add({10}, matMulInteger());
  table.add({10, 21}, qLinearMatMul());
  table.add({10}, convInteger());
  table.add({10}, qLinearConv());
}

} // namespace sluice::frontend::ops
