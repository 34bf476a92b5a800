// com.microsoft: QGemm, MatMulIntegerToFloat, DynamicQuantizeMatMul and QAttention, products of the
// integers of quantised tensors, which are scaled afterwards.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/packed_attention.h"
#include "compiler/frontend/onnx/ops/quantised_products.h"

namespace sluice::frontend::ops {
namespace {

constexpr ProductInputs kGemm = {.a = 0,
                                 .aScale = 1,
                                 .aZero = 2,
                                 .b = 3,
                                 .bScale = 4,
                                 .bZero = 5,
                                 .yScale = 7,
                                 .yZero = 8,
                                 .bias = 6};
constexpr ProductInputs kToFloat = {
    .a = 0, .aScale = 2, .aZero = 4, .b = 1, .bScale = 3, .bZero = 5, .bias = 6};
constexpr ProductInputs kDynamic = {.a = 0, .b = 1, .bScale = 2, .bZero = 3, .bias = 4};

const char *const kColumn = "column of 'B'";

bool isTransposed(const NodeView &node, const char *attribute) {
  return node.integer(attribute) != 0;
}

/// The extents of a matrix of QGemm after its transposition.
Shape matrixShape(const NodeView &node, size_t input, const char *transposed) {
  Shape shape = node.in(input).shape;
  if (isTransposed(node, transposed))
    std::swap(shape[0], shape[1]);
  return shape;
}

int64_t gemmColumns(const NodeView &node) { return matrixShape(node, kGemm.b, "transB")[1]; }

Tensor matrix(NodeBuilder &node, const Tensor &integers, const char *transposed) {
  return isTransposed(node, transposed) ? node.emit.transpose(integers, {1, 0}) : integers;
}

std::vector<Requirement> gemmFits() {
  return {
      {"'A' and 'B' must have rank 2 and, after 'transA' and 'transB', equal contracted extents",
       [](const NodeView &node) -> std::string {
         const Shape &a = node.in(kGemm.a).shape, &b = node.in(kGemm.b).shape;
         const bool fits =
             a.size() == 2 && b.size() == 2 &&
             matrixShape(node, kGemm.a, "transA")[1] == matrixShape(node, kGemm.b, "transB")[0];
         return fits ? "" : shapeText(a) + " and " + shapeText(b);
       },
       kShapes},
      {"input 'C' must broadcast to the shape of the product",
       [](const NodeView &node) -> std::string {
         if (!node.has(kGemm.bias))
           return "";
         const Shape product = {matrixShape(node, kGemm.a, "transA")[0], gemmColumns(node)};
         const Shape &c = node.in(kGemm.bias).shape;
         return broadcastShape({product, c}) == product
                    ? ""
                    : shapeText(c) + " for " + shapeText(product);
       },
       kShapes},
      {"'y_scale' and 'y_zero_point' must be given together",
       [](const NodeView &node) -> std::string {
         return node.has(kGemm.yScale) == node.has(kGemm.yZero) ? "" : "only one of them";
       },
       kShapes}};
}

Operator qGemm() {
  Operator entry;
  entry.domain = "com.microsoft";
  entry.name = "QGemm";
  entry.form = "map: - zero point, transposes, matmul, map: (x + C) * scale, with 'y_scale' "
               "min(max(round(that) + zero, low), high)";
  entry.inputs = {{"A", Types::Numeric},
                  scaleInput("a_scale"),
                  zeroInput("a_zero_point"),
                  {"B", Types::Numeric},
                  scaleInput("b_scale"),
                  zeroInput("b_zero_point"),
                  {"C", Types::Integer, Presence::Optional, true},
                  {"y_scale", Types::Float, Presence::Optional, true},
                  zeroInput("y_zero_point", Presence::Optional)};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"alpha", AttributeKind::Float, 1.0F},
                      {"transA", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"transB", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = gemmFits();
  for (Requirement &one : quantisedOperands(kGemm, "A", "B", kColumn, gemmColumns))
    entry.requirements.push_back(std::move(one));
  for (Requirement &one : quantisedResult(kGemm, "a", "b"))
    entry.requirements.push_back(std::move(one));
  entry.build = [](NodeBuilder &node) {
    const Tensor a = centred(node, kGemm.a, kGemm.aZero);
    const Tensor b = centred(node, kGemm.b, kGemm.bZero, isTransposed(node, "transB") ? 0 : 1);
    const Tensor sums = node.emit.matmul(matrix(node, a, "transA"), matrix(node, b, "transB"));
    const Tensor bias = node.has(kGemm.bias) ? asFloats(node.in(kGemm.bias)) : noBias();
    node.result(rescaled(node, kGemm, sums, bias, 1, node.real("alpha")));
  };
  return entry;
}

/// What holds of products that are restored to floats.
std::vector<Requirement> productToFloat(const ProductInputs &at, const char *a) {
  std::vector<Requirement> out = quantisedOperands(at, a, "B", kColumn, columnsOf(at));
  out.push_back(positive(at.bScale, "b_scale"));
  out.push_back(productFits(at));
  out.push_back({"input 'bias' must have one element per column of 'B'",
                 [at](const NodeView &node) -> std::string {
                   if (!node.has(at.bias))
                     return "";
                   const Shape &bias = node.in(at.bias).shape;
                   return bias == Shape{columnsOf(at)(node)}
                              ? ""
                              : shapeText(bias) + " for " + shapeText(node.in(at.b).shape);
                 },
                 kShapes});
  return out;
}

/// sums * scale of a * scales of the columns of b + bias of the columns.
Tensor restoredProduct(Emitter &emit, const Tensor &sums, const Tensor &aScale,
                       const Tensor &bScales, const Tensor *bias) {
  const auto product = [](const Scalars &s, mlir::ValueRange v) { return s.mul(v[0], v[1]); };
  const Tensor scale = emit.reshape(aScale, {});
  Tensor scales = along(emit, bScales, sums.rank() - 1, sums.rank());
  if (scale.known)
    scales = emit.pointwise({scales, scale}, product);
  Tensor result = emit.pointwise({sums, scales}, product);
  if (!scale.known)
    result = emit.pointwise({result, scale}, product);
  if (bias)
    result = emit.pointwise({result, *bias},
                            [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
  return ofType(result, aScale.type);
}

/// The bias of an operator, null if it is left out.
const Tensor *biasOf(const NodeView &node, const ProductInputs &at) {
  return node.has(at.bias) ? &node.in(at.bias) : nullptr;
}

Operator matMulIntegerToFloat() {
  Operator entry;
  entry.domain = "com.microsoft";
  entry.name = "MatMulIntegerToFloat";
  entry.form = "map: - zero point, matmul, map: x * scale + bias";
  entry.inputs = {{"A", Types::Numeric},
                  {"B", Types::Numeric},
                  {"a_scale"},
                  scaleInput("b_scale"),
                  {"a_zero_point", Types::Numeric, Presence::Optional},
                  zeroInput("b_zero_point", Presence::Optional),
                  {"bias", Types::Float, Presence::Optional}};
  entry.outputs = {{"Y"}};
  entry.requirements = productToFloat(kToFloat, "A");
  entry.requirements.push_back(
      oneElement({kToFloat.aScale, kToFloat.aZero}, "'a_scale' and 'a_zero_point'"));
  entry.requirements.push_back(positive(kToFloat.aScale, "a_scale"));
  entry.build = [](NodeBuilder &node) {
    node.result(restoredProduct(node.emit, integerProduct(node, kToFloat), node.in(kToFloat.aScale),
                                node.in(kToFloat.bScale), biasOf(node, kToFloat)));
  };
  return entry;
}

Operator dynamicQuantizeMatMul() {
  Operator entry;
  entry.domain = "com.microsoft";
  entry.name = "DynamicQuantizeMatMul";
  entry.form = "as DynamicQuantizeLinear, map: - zero point, matmul, map: x * scale + bias";
  entry.inputs = {{"A"},
                  {"B", Types::Numeric},
                  scaleInput("b_scale"),
                  zeroInput("b_zero_point", Presence::Optional),
                  {"bias", Types::Float, Presence::Optional}};
  entry.outputs = {{"Y"}};
  entry.requirements = productToFloat(kDynamic, nullptr);
  entry.build = [](NodeBuilder &node) {
    const auto [integers, scale, zero] = dynamicallyQuantised(node.emit, node.in(kDynamic.a));
    const Tensor a = node.emit.pointwise(
        {integers, zero}, [](const Scalars &s, mlir::ValueRange v) { return s.sub(v[0], v[1]); });
    const Tensor b = centred(node, kDynamic.b, kDynamic.bZero, node.in(kDynamic.b).rank() - 1);
    node.result(restoredProduct(node.emit, node.emit.matmul(a, b), scale, node.in(kDynamic.bScale),
                                biasOf(node, kDynamic)));
  };
  return entry;
}

constexpr ProductInputs kAttention = {
    .a = 0, .aScale = 3, .aZero = 6, .b = 1, .bScale = 4, .bZero = 7, .bias = 2};
constexpr AttentionInputs kAttentionInputs = {.mask = 5, .added = 0, .past = 8};

Operator qAttention() {
  Operator entry;
  entry.domain = "com.microsoft";
  entry.name = "QAttention";
  entry.form =
      "map: - zero point, matmul with the weights, map: x * scale + bias, then as Attention "
      "of ONNX";
  entry.inputs = {{"input", Types::Numeric},
                  {"weight", Types::Numeric, Presence::Required, true},
                  {"bias"},
                  {"input_scale"},
                  scaleInput("weight_scale"),
                  {"mask_index", Types::Integer, Presence::Optional, true},
                  {"input_zero_point", Types::Numeric, Presence::Optional},
                  zeroInput("weight_zero_point", Presence::Optional),
                  {"past", Types::Float, Presence::Optional}};
  entry.outputs = {{"output"}, {"present", Presence::Optional}};
  entry.attributes = packedAttributes();
  entry.requirements = packedRequirements(
      kAttentionInputs, "'input' must be [batch, positions, width], 'weight' [width, 3 * size] and "
                        "'bias' [3 * size], where 'num_heads' must divide the size");
  for (Requirement &one : quantisedOperands(kAttention, "input", "weight", "column of 'weight'",
                                            columnsOf(kAttention)))
    entry.requirements.push_back(std::move(one));
  entry.requirements.push_back(
      oneElement({kAttention.aScale, kAttention.aZero}, "'input_scale' and 'input_zero_point'"));
  entry.requirements.push_back(positive(kAttention.aScale, "input_scale"));
  entry.requirements.push_back(positive(kAttention.bScale, "weight_scale"));
  entry.build = [](NodeBuilder &node) {
    Emitter &emit = node.emit;
    const Tensor x = centred(node, kAttention.a, kAttention.aZero);
    const Tensor weights = centred(node, kAttention.b, kAttention.bZero, 1);
    const Tensor &scales = node.in(kAttention.bScale);
    buildPacked(node, kAttentionInputs, [&](int64_t from, int64_t count) {
      const Tensor bias = sliceAlong(emit, node.in(kAttention.bias), 0, from, count);
      const bool isPerColumn = elementCount(scales.shape, kMaxElements) != 1;
      return restoredProduct(emit, emit.matmul(x, sliceAlong(emit, weights, 1, from, count)),
                             node.in(kAttention.aScale),
                             isPerColumn ? sliceAlong(emit, scales, 0, from, count) : scales,
                             &bias);
    });
  };
  return entry;
}

} // namespace

void addMicrosoftQuantisedProducts(OperatorTable &table) {
  table.add({1}, qGemm());
  table.add({1}, matMulIntegerToFloat());
  table.add({1}, dynamicQuantizeMatMul());
  table.add({1}, qAttention());
}

} // namespace sluice::frontend::ops
