// Gemm and MatMul.
#include <fmt/format.h>

#include "compiler/dialect/sluice/shapes.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

Operator matMul() {
  Operator entry;
  entry.name = "MatMul";
  entry.form = "matmul";
  entry.inputs = {{"A"}, {"B"}};
  entry.outputs = {{"Y"}};
  entry.requirements = {sameTypes(),
                        {"the contracted extents of the inputs are equal, the axes before the last "
                         "two broadcast, and both ranks are at least 1",
                         [](const NodeView &node) -> std::string {
                           std::string why;
                           bool fits = mlir::succeeded(
                               ir::inferMatmul(node.in(0).shape, node.in(1).shape, why));
                           return fits ? "" : inputShapes(node);
                         },
                         "E0206"}};
  entry.build = [](NodeBuilder &node) { node.result(node.emit.matmul(node.in(0), node.in(1))); };
  return entry;
}

/// Extents of A' and B' after the transpositions: M, K and K, N.
Shape operandShape(const NodeView &node, size_t input, const char *transposed) {
  Shape shape = node.in(input).shape;
  if (node.integer(transposed))
    std::swap(shape[0], shape[1]);
  return shape;
}

Shape resultShape(const NodeView &node) {
  return {operandShape(node, 0, "transA")[0], operandShape(node, 1, "transB")[1]};
}

Tensor scaled(const Tensor &tensor, float factor) {
  HostTensor out = *tensor.known;
  for (float &value : out.floats)
    value *= factor;
  return Tensor::ofKnown(std::move(out), tensor.name);
}

/// Factor that is still to be applied after folding it into a known tensor.
float fold(Tensor &tensor, float factor) {
  if (factor == 1 || !tensor.known)
    return factor;
  tensor = scaled(tensor, factor);
  return 1;
}

void buildGemm(NodeBuilder &node) {
  Tensor a = node.in(0), b = node.in(1);
  if (node.integer("transA"))
    a = node.emit.transpose(a, {1, 0});
  if (node.integer("transB"))
    b = node.emit.transpose(b, {1, 0});
  float alpha = node.real("alpha"), beta = node.real("beta");
  alpha = fold(b, alpha);
  alpha = fold(a, alpha);
  Tensor product = node.emit.matmul(a, b);
  std::vector<Tensor> operands = {product};
  if (node.has(2) && beta != 0) {
    operands.push_back(node.in(2));
    beta = fold(operands.back(), beta);
  }
  if (operands.size() == 1 && alpha == 1) {
    node.result(product);
    return;
  }
  const auto times = [](const Scalars &s, mlir::Value x, float factor) {
    return factor == 1 ? x : s.mul(x, s.constant(factor));
  };
  node.result(node.emit.pointwise(operands, [&](const Scalars &s, mlir::ValueRange x) {
    mlir::Value y = times(s, x[0], alpha);
    return x.size() == 2 ? s.add(y, times(s, x[1], beta)) : y;
  }));
}

Operator gemm(Presence bias) {
  Operator entry;
  entry.name = "Gemm";
  entry.form = "matmul, then map: alpha * x + beta * c; alpha and beta go into constants";
  entry.inputs = {{"A"}, {"B"}, {"C", Types::Float, bias}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"alpha", AttributeKind::Float, 1.0F},
                      {"beta", AttributeKind::Float, 1.0F},
                      {"transA", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"transB", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {sameTypes(),
                        {"inputs 'A' and 'B' have rank 2",
                         [](const NodeView &node) -> std::string {
                           return node.in(0).rank() == 2 && node.in(1).rank() == 2
                                      ? ""
                                      : shapeText(node.in(0).shape) + " and " +
                                            shapeText(node.in(1).shape);
                         },
                         "E0206"},
                        {"the contracted extents of 'A' and 'B' are equal",
                         [](const NodeView &node) -> std::string {
                           int64_t left = operandShape(node, 0, "transA")[1];
                           int64_t right = operandShape(node, 1, "transB")[0];
                           return left == right ? "" : fmt::format("{} and {}", left, right);
                         },
                         "E0206"},
                        {"input 'C' broadcasts to the shape of the product",
                         [](const NodeView &node) -> std::string {
                           Shape result = resultShape(node);
                           if (!node.has(2) || broadcastShape({result, node.in(2).shape}) == result)
                             return "";
                           return fmt::format("{}, and {} of the product",
                                              shapeText(node.in(2).shape), shapeText(result));
                         },
                         "E0206"}};
  entry.build = buildGemm;
  return entry;
}

} // namespace

void addLinear(OperatorTable &table) {
  table.add({1, 9, 13}, matMul());
  table.add({7, 9}, gemm(Presence::Required));
  table.add({11, 13}, gemm(Presence::Optional));
}

} // namespace sluice::frontend::ops
