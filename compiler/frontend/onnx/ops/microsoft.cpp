// com.microsoft: products and convolutions that are fused with a function, and forms of Gelu.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/dialect/sluice/shapes.h"
#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/recurrent_activation.h"
#include "compiler/frontend/onnx/ops/unary.h"

namespace sluice::frontend::ops {
namespace {

const char *const kDomain = "com.microsoft";

Operator ofDomain(Operator entry, const char *name) {
  entry.domain = kDomain;
  entry.name = name;
  return entry;
}

Operator newest(const OperatorTable &table, const char *name) {
  return *table.find("", name, kMaxOpset);
}

/// The function behind a product, by its name and numbers.
struct Fused {
  std::string name;
  std::vector<float> alphas, betas;

  bool isClip() const { return name == "Clip"; }
  /// Empty, or what is wrong.
  std::string problem() const {
    if (name.empty() || (isClip() && alphas.size() == 1 && betas.size() == 1))
      return "";
    std::string found;
    recurrentActivations({name}, alphas, betas, found);
    return found;
  }
  Tensor of(Emitter &emit, const Tensor &x) const {
    if (name.empty())
      return x;
    return emit.pointwise({x}, [&](const Scalars &s, mlir::ValueRange v) {
      if (isClip())
        return s.clamp(v[0], alphas[0], betas[0]);
      std::string found;
      return recurrentActivations({name}, alphas, betas, found)->front()(s, v[0]);
    });
  }
};

using FusedOf = std::function<Fused(const NodeView &)>;

/// The function of an operator with attribute 'activation', after what `entry` builds.
Operator thenFused(Operator entry, const FusedOf &fused, const char *numbers) {
  entry.form += ", then map: the activation";
  entry.attributes.push_back({"activation", AttributeKind::String, std::string()});
  entry.requirements.push_back(
      {fmt::format(
           "attribute 'activation' must be '' or one of Clip, {}, with its parameters in {}",
           recurrentActivationNames(), numbers),
       [fused](const NodeView &node) { return fused(node).problem(); }, kShapes});
  entry.build = [fused, build = entry.build](NodeBuilder &node) {
    build(node);
    node.result(fused(node).of(node.emit, *node.results[0]));
  };
  return entry;
}

Operator fusedGemm(const OperatorTable &table) {
  // Of floats, as Gemm up to opset 8: what an activation makes of integers is not said.
  Operator gemm = ofDomain(*table.find("", "Gemm", 7), "FusedGemm");
  gemm.inputs[2].presence = Presence::Optional;
  Operator entry = thenFused(
      std::move(gemm),
      [](const NodeView &node) {
        Fused out{node.attribute<std::string>("activation"), {}, {}};
        if (node.given("activation_alpha"))
          out.alphas = {node.real("activation_alpha")};
        if (node.given("activation_beta"))
          out.betas = {node.real("activation_beta")};
        return out;
      },
      "'activation_alpha' and 'activation_beta'");
  entry.attributes.push_back({"activation_alpha", AttributeKind::Float});
  entry.attributes.push_back({"activation_beta", AttributeKind::Float});
  return entry;
}

Operator fusedConv(const OperatorTable &table) {
  Operator entry = ofDomain(newest(table, "Conv"), "FusedConv");
  entry.inputs.push_back({"Z", Types::Float, Presence::Optional});
  entry.form += ", + Z";
  entry.build = [build = entry.build](NodeBuilder &node) {
    build(node);
    if (!node.has(3))
      return;
    const Tensor &y = *node.results[0];
    if (node.in(3).shape != y.shape)
      throw NodeError{kShapes, fmt::format("input 'Z' has shape {}, but the convolution {}",
                                           shapeText(node.in(3).shape), shapeText(y.shape))};
    node.result(node.emit.pointwise(
        {y, node.in(3)}, [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); }));
  };
  entry = thenFused(
      std::move(entry),
      [](const NodeView &node) {
        Fused out{node.attribute<std::string>("activation"), {}, {}};
        if (!node.given("activation_params"))
          return out;
        const auto &numbers = node.attribute<std::vector<float>>("activation_params");
        for (size_t i = 0; i < numbers.size(); ++i)
          (i == 1 ? out.betas : out.alphas).push_back(numbers[i]);
        return out;
      },
      "'activation_params'");
  entry.attributes.push_back({"activation_params", AttributeKind::Floats});
  return entry;
}

/// The order of the axes of a factor: with 'transBatch' the first one goes behind the other axes of
/// the batch, then with 'trans' the last two are exchanged. A tensor of fewer axes stays as it is.
Shape orderOf(const NodeView &node, size_t input) {
  const std::string name = input == 0 ? "A" : "B";
  Shape order(node.in(input).rank());
  std::iota(order.begin(), order.end(), 0);
  if (node.integer("transBatch" + name) != 0 && order.size() >= 3)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (node.integer("trans" + name) != 0 && order.size() >= 2)
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

Shape orderedShape(const NodeView &node, size_t input) {
  Shape shape;
  for (const int64_t axis : orderOf(node, input))
    shape.push_back(node.in(input).shape[axis]);
  return shape;
}

Tensor ordered(NodeBuilder &node, size_t input) {
  const Shape order = orderOf(node, input);
  return std::is_sorted(order.begin(), order.end()) ? node.in(input)
                                                    : node.emit.transpose(node.in(input), order);
}

Operator fusedMatMul() {
  Operator entry = ofDomain({}, "FusedMatMul");
  entry.form = "transposes, matmul, map: alpha * x";
  entry.inputs = {{"A"}, {"B"}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"alpha", AttributeKind::Float, 1.0F},
                      {"transA", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"transB", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"transBatchA", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"transBatchB", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {
      sameTypes(),
      {"inputs must have rank 1 or more, equal contracted extents, and leading axes that broadcast",
       [](const NodeView &node) -> std::string {
         std::string why;
         const bool fits =
             mlir::succeeded(ir::inferMatmul(orderedShape(node, 0), orderedShape(node, 1), why));
         return fits ? "" : inputShapes(node);
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const Tensor product = node.emit.matmul(ordered(node, 0), ordered(node, 1));
    const float alpha = node.real("alpha");
    node.result(alpha == 1
                    ? product
                    : node.emit.pointwise({product}, [&](const Scalars &s, mlir::ValueRange v) {
                        return s.scale(v[0], alpha);
                      }));
  };
  return entry;
}

/// A function of the sum of an input and a bias.
Operator ofSum(const char *name, const char *form, const char *x, const char *bias,
               Presence presence, mlir::Value (Scalars::*function)(mlir::Value) const) {
  Operator entry = ofDomain({}, name);
  entry.form = form;
  entry.inputs = {{x}, {bias, Types::Float, presence}};
  entry.outputs = {{"Y"}};
  entry.requirements = {
      sameTypes(),
      {fmt::format("input '{}' must have one element per position of the last axis", bias),
       [](const NodeView &node) -> std::string {
         const Shape &shape = node.in(0).shape;
         const bool fits =
             !node.has(1) || (!shape.empty() && node.in(1).shape == Shape{shape.back()});
         return fits ? "" : inputShapes(node);
       },
       kShapes}};
  entry.build = [function](NodeBuilder &node) {
    std::vector<Tensor> operands = {node.in(0)};
    if (node.has(1))
      operands.push_back(node.in(1));
    node.result(node.emit.pointwise(operands, [&](const Scalars &s, mlir::ValueRange v) {
      return (s.*function)(v.size() == 2 ? s.add(v[0], v[1]) : v[0]);
    }));
  };
  return entry;
}

} // namespace

void addMicrosoft(OperatorTable &table) {
  table.add({1}, fusedMatMul());
  table.add({1}, fusedGemm(table));
  table.add({1}, fusedConv(table));
  table.add({1}, ofDomain(unary("Gelu", "map: x / 2 * (1 + erf(x / sqrt 2))",
                                [](const Scalars &s, mlir::Value x, const NodeView &) {
                                  return s.gelu(x);
                                }),
                          "Gelu"));
  table.add({1}, ofSum("BiasGelu", "map: x + B, then x / 2 * (1 + erf(x / sqrt 2))", "A", "B",
                       Presence::Required, &Scalars::gelu));
  table.add({1}, ofSum("FastGelu", "map: x + bias, then the tanh form of Gelu", "X", "bias",
                       Presence::Optional, &Scalars::geluByTanh));
  Operator quick = ofDomain(unary("QuickGelu", "map: x / (1 + exp(-alpha * x))",
                                  [](const Scalars &s, mlir::Value x, const NodeView &node) {
                                    return s.mul(x, s.sigmoid(s.scale(x, node.real("alpha"))));
                                  }),
                            "QuickGelu");
  quick.attributes = {{"alpha", AttributeKind::Float, 1.702F}};
  table.add({1}, std::move(quick));
}

} // namespace sluice::frontend::ops
