// Gemm and MatMul. Of integers, which are known, in their type.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/dialect/sluice/shapes.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Most products of known integers.
constexpr int64_t kMostProducts = int64_t{1} << 28;

Shape withoutLast(const Shape &shape, size_t count) {
  return {shape.begin(), shape.end() - static_cast<ptrdiff_t>(std::min(count, shape.size()))};
}

/// The product of known integers whose shapes fit; it wraps around.
HostTensor productOfIntegers(const Tensor &a, const Tensor &b) {
  const int64_t terms = a.shape.back(), rows = a.rank() == 1 ? 1 : a.shape.end()[-2],
                columns = b.rank() == 1 ? 1 : b.shape.back();
  const Shape left = withoutLast(a.shape, 2), right = withoutLast(b.shape, 2);
  HostTensor out{a.type, *broadcastShape({left, right}), {}, {}};
  const Shape batch = out.shape;
  const int64_t matrices = elementCount(batch, kMostProducts);
  if (matrices < 0 || elementCount({matrices, rows, columns, terms}, kMostProducts) < 0)
    throw NodeError{kNotSupported,
                    fmt::format("the product of the integers {} and {} has more than {} terms",
                                shapeText(a.shape), shapeText(b.shape), kMostProducts)};
  if (a.rank() > 1)
    out.shape.push_back(rows);
  if (b.rank() > 1)
    out.shape.push_back(columns);
  for (int64_t matrix = 0; matrix < matrices; ++matrix) {
    const int64_t ofA = broadcastIndex(left, batch, matrix) * rows * terms;
    const int64_t ofB = broadcastIndex(right, batch, matrix) * terms * columns;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        uint64_t sum = 0;
        for (int64_t i = 0; i < terms; ++i)
          sum += static_cast<uint64_t>(a.known->ints[ofA + row * terms + i]) *
                 static_cast<uint64_t>(b.known->ints[ofB + i * columns + column]);
        out.ints.push_back(wrapToType(static_cast<int64_t>(sum), out.type));
      }
  }
  return out;
}

/// From opset 9 on the inputs may be integers too.
Operator withIntegers(Operator entry, void (*evaluateIntegers)(NodeBuilder &)) {
  for (InputSpec &input : entry.inputs)
    input.types = Types::Numeric;
  entry.evaluate = [build = entry.build, evaluateIntegers](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      build(node);
    else
      evaluateIntegers(node);
  };
  return entry;
}

Operator matMul() {
  Operator entry;
  entry.name = "MatMul";
  entry.form = "matmul";
  entry.inputs = {{"A"}, {"B"}};
  entry.outputs = {{"Y"}};
  entry.requirements = {
      sameTypes(),
      {"inputs must have rank 1 or more, equal contracted extents, and leading axes that broadcast",
       [](const NodeView &node) -> std::string {
         std::string why;
         bool fits = mlir::succeeded(ir::inferMatmul(node.in(0).shape, node.in(1).shape, why));
         return fits ? "" : inputShapes(node);
       },
       kShapes}};
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

bool isWhole(float value) { return std::trunc(value) == value && std::fabs(value) < 0x1p31F; }

/// alpha * A' * B' + beta * C
void evaluateGemm(NodeBuilder &node) {
  Tensor a = node.in(0), b = node.in(1);
  if (node.integer("transA") != 0)
    a = node.emit.transpose(a, {1, 0});
  if (node.integer("transB") != 0)
    b = node.emit.transpose(b, {1, 0});
  HostTensor out = productOfIntegers(a, b);
  const auto alpha = static_cast<uint64_t>(static_cast<int64_t>(node.real("alpha")));
  const auto beta = static_cast<uint64_t>(static_cast<int64_t>(node.real("beta")));
  for (int64_t i = 0; i < out.size(); ++i) {
    uint64_t sum = alpha * static_cast<uint64_t>(out.ints[i]);
    if (node.has(2)) {
      const int64_t at = broadcastIndex(node.in(2).shape, out.shape, i);
      sum += beta * static_cast<uint64_t>(node.knownInts(2)[at]);
    }
    out.ints[i] = wrapToType(static_cast<int64_t>(sum), out.type);
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

Operator gemmWithIntegers(Operator entry) {
  entry = withIntegers(std::move(entry), evaluateGemm);
  entry.requirements.push_back(knownIntegers());
  entry.requirements.push_back(
      {"attributes 'alpha' and 'beta' must be whole numbers below 2^31 for integers",
       [](const NodeView &node) -> std::string {
         const float alpha = node.real("alpha"), beta = node.real("beta");
         return isFloatType(node.in(0).type) || (isWhole(alpha) && isWhole(beta))
                    ? ""
                    : fmt::format("'alpha' {} and 'beta' {}", alpha, beta);
       }});
  return entry;
}

Operator gemm(Presence bias) {
  Operator entry;
  entry.name = "Gemm";
  entry.form = "matmul, then map: alpha * x + beta * c; constants absorb alpha and beta";
  entry.inputs = {{"A"}, {"B"}, {"C", Types::Float, bias}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"alpha", AttributeKind::Float, 1.0F},
                      {"beta", AttributeKind::Float, 1.0F},
                      {"transA", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"transB", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {
      sameTypes(),
      {"inputs 'A' and 'B' must have rank 2",
       [](const NodeView &node) -> std::string {
         return node.in(0).rank() == 2 && node.in(1).rank() == 2
                    ? ""
                    : shapeText(node.in(0).shape) + " and " + shapeText(node.in(1).shape);
       },
       kShapes},
      {"the contracted extents of 'A' and 'B' must be equal",
       [](const NodeView &node) -> std::string {
         int64_t left = operandShape(node, 0, "transA")[1];
         int64_t right = operandShape(node, 1, "transB")[0];
         return left == right ? "" : fmt::format("{} and {}", left, right);
       },
       kShapes},
      {"input 'C' must broadcast to the shape of the product",
       [](const NodeView &node) -> std::string {
         Shape result = resultShape(node);
         if (!node.has(2) || broadcastShape({result, node.in(2).shape}) == result)
           return "";
         return fmt::format("{} for a product {}", shapeText(node.in(2).shape), shapeText(result));
       },
       kShapes}};
  entry.build = buildGemm;
  return entry;
}

} // namespace

void addLinear(OperatorTable &table) {
  table.add({1}, matMul());
  Operator ofIntegers = withIntegers(matMul(), [](NodeBuilder &node) {
    node.result(Tensor::ofKnown(productOfIntegers(node.in(0), node.in(1))));
  });
  ofIntegers.integers = {IntegerRule::Kind::Computed, [](const NodeView &node) {
                           const Tensor &a = node.in(0), &b = node.in(1);
                           return (rangeOf(a) * rangeOf(b)).times(a.shape.back());
                         }};
  table.add({9, 13}, ofIntegers);
  table.add({7}, gemm(Presence::Required));
  table.add({9}, gemmWithIntegers(gemm(Presence::Required)));
  table.add({11, 13}, gemmWithIntegers(gemm(Presence::Optional)));
}

} // namespace sluice::frontend::ops
