// QLinearMatMul, QLinearConv, MatMulInteger, ConvInteger: sums of products of quantised tensors are
// rounded to bf16 before they are scaled.
#include <cctype>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/convolution.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/quantised_products.h"

namespace sluice::frontend::ops {
namespace {

using Proto = onnx::TensorProto;

constexpr ProductInputs kLinear = {0, 1, 2, 3, 4, 5, 6, 7, 8};
constexpr ProductInputs kInteger = {.a = 0, .aZero = 2, .b = 1, .bZero = 3};

/// The output channels of the weights, along their first axis.
FeatureCount channelsOf(const ProductInputs &at) {
  return [weights = at.b](const NodeView &node) {
    const Shape &shape = node.in(weights).shape;
    return shape.empty() ? 0 : shape.front();
  };
}

Operator matMulInteger() {
  Operator entry;
  entry.name = "MatMulInteger";
  entry.form = "map: - zero point, matmul, whose sums are rounded to bf16";
  entry.inputs = {{"A", Types::Numeric},
                  {"B", Types::Numeric},
                  {"a_zero_point", Types::Numeric, Presence::Optional},
                  zeroInput("b_zero_point", Presence::Optional)};
  entry.outputs = {{"Y"}};
  entry.requirements = quantisedOperands(kInteger, "A", "B", "column of 'B'", columnsOf(kInteger));
  entry.requirements.push_back(oneElement({2}, "'a_zero_point'"));
  entry.requirements.push_back(productFits(kInteger));
  entry.build = [](NodeBuilder &node) {
    node.result(ofType(integerProduct(node, kInteger), Proto::INT32));
  };
  return entry;
}

Operator qLinearMatMul() {
  Operator entry;
  entry.name = "QLinearMatMul";
  entry.form = "map: - zero point, matmul, map: min(max(round(x * scale) + zero, low), high)";
  entry.inputs = {{"a", Types::Numeric}, scaleInput("a_scale"),    zeroInput("a_zero_point"),
                  {"b", Types::Numeric}, scaleInput("b_scale"),    zeroInput("b_zero_point"),
                  scaleInput("y_scale"), zeroInput("y_zero_point")};
  entry.outputs = {{"y"}};
  entry.requirements = quantisedOperands(kLinear, "a", "b", "column of 'b'", columnsOf(kLinear));
  for (Requirement &one : quantisedResult(kLinear, "a", "b"))
    entry.requirements.push_back(std::move(one));
  entry.requirements.push_back(productFits(kLinear));
  entry.build = [](NodeBuilder &node) {
    const Tensor sums = integerProduct(node, kLinear);
    node.result(rescaled(node, kLinear, sums, noBias(), sums.rank() - 1));
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
Tensor integerConvolution(NodeBuilder &node, const ProductInputs &at) {
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
                  {"x_zero_point", Types::Numeric, Presence::Optional},
                  zeroInput("w_zero_point", Presence::Optional)};
  entry.outputs = {{"y"}};
  entry.requirements =
      quantisedOperands(kInteger, "x", "w", "output channel of 'w'", channelsOf(kInteger));
  entry.requirements.push_back(oneElement({2}, "'x_zero_point'"));
  asConvolution(entry, {.weights = kInteger.b, .bias = std::nullopt, .x = "x", .w = "w"});
  entry.build = [](NodeBuilder &node) {
    node.result(ofType(integerConvolution(node, kInteger), Proto::INT32));
  };
  return entry;
}

Operator qLinearConv() {
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
  entry.requirements =
      quantisedOperands(kLinear, "x", "w", "output channel of 'w'", channelsOf(kLinear));
  for (Requirement &one : quantisedResult(kLinear, "x", "w"))
    entry.requirements.push_back(std::move(one));
  asConvolution(entry, {.weights = kLinear.b, .bias = kLinear.bias, .x = "x", .w = "w"});
  entry.build = [](NodeBuilder &node) {
    const Tensor sums = integerConvolution(node, kLinear);
    const Tensor bias =
        node.has(kLinear.bias) ? along(node.emit, node.in(kLinear.bias), 1, sums.rank()) : noBias();
    node.result(rescaled(node, kLinear, sums, bias, 1));
  };
  return entry;
}

} // namespace

namespace {

/// Scales are named in lower case.
std::string lowerCase(std::string name) {
  for (char &letter : name)
    letter = static_cast<char>(std::tolower(letter));
  return name;
}

} // namespace

std::vector<Requirement> quantisedOperands(const ProductInputs &at, const char *a, const char *b,
                                           const char *feature, const FeatureCount &count) {
  std::vector<Requirement> out;
  if (a)
    out.push_back(isByteInput(at.a, a));
  out.push_back(isByteInput(at.b, b));
  if (at.bScale != 0)
    out.push_back(perTensorOr(at.bScale, lowerCase(b) + "_scale", at.b, feature, count));
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
                 kShapes});
  return out;
}

std::vector<Requirement> quantisedResult(const ProductInputs &at, const std::string &a,
                                         const std::string &b) {
  return {isByteInput(at.yZero, "y_zero_point"),
          oneElement({at.aScale, at.aZero, at.yScale, at.yZero},
                     fmt::format("'{0}_scale', '{0}_zero_point', 'y_scale' and 'y_zero_point'", a)),
          positive(at.aScale, a + "_scale"), positive(at.bScale, b + "_scale"),
          positive(at.yScale, "y_scale")};
}

FeatureCount columnsOf(const ProductInputs &at) {
  return [b = at.b](const NodeView &node) {
    const Shape &shape = node.in(b).shape;
    return shape.empty() ? 0 : shape.back();
  };
}

Requirement productFits(const ProductInputs &at) {
  return {"the contracted extents must be equal, and the leading axes must broadcast",
          [at](const NodeView &node) -> std::string {
            const Shape &a = node.in(at.a).shape, &b = node.in(at.b).shape;
            const bool ranks = a.size() >= 2 && b.size() >= 2;
            const bool fits = ranks && a.back() == b[b.size() - 2] &&
                              broadcastShape({{a.begin(), a.end() - 2}, {b.begin(), b.end() - 2}});
            return fits ? "" : shapeText(a) + " and " + shapeText(b);
          },
          kShapes};
}

Tensor integerProduct(NodeBuilder &node, const ProductInputs &at) {
  const int64_t last = node.in(at.b).rank() - 1;
  return node.emit.matmul(centred(node, at.a, at.aZero), centred(node, at.b, at.bZero, last));
}

Tensor noBias() { return Tensor::ofKnown(HostTensor::ofFloats({}, {0})); }

Tensor rescaled(NodeBuilder &node, const ProductInputs &at, const Tensor &sums, const Tensor &bias,
                int64_t axis, double alpha) {
  const bool isQuantised = node.has(at.yScale);
  if (isQuantised)
    alpha /= node.in(at.yScale).known->floats[0];
  const HostTensor &b = *node.in(at.bScale).known;
  HostTensor factors{Proto::FLOAT, b.shape, {}, {}};
  for (const float scale : b.floats)
    factors.floats.push_back(
        static_cast<float>(double{scale} * node.in(at.aScale).known->floats[0] * alpha));
  const Tensor factor = along(node.emit, Tensor::ofKnown(std::move(factors)), axis, sums.rank());
  const auto scaled = [](const Scalars &s, mlir::ValueRange v) {
    return s.mul(s.add(v[0], v[2]), v[1]);
  };
  if (!isQuantised)
    return ofType(node.emit.pointwise({sums, factor, bias}, scaled), node.in(at.aScale).type);
  const DataType type = node.in(at.yZero).type;
  return ofType(node.emit.pointwise({sums, factor, bias, zeroPoint(node, at.yZero, 0, 0)},
                                    [&](const Scalars &s, mlir::ValueRange v) {
                                      return quantised(s, scaled(s, v), v[3], type);
                                    }),
                type);
}

void addQuantisedProducts(OperatorTable &table) {
  table.add({10}, matMulInteger());
  table.add({10, 21}, qLinearMatMul());
  table.add({10}, convInteger());
  table.add({10}, qLinearConv());
}

} // namespace sluice::frontend::ops
