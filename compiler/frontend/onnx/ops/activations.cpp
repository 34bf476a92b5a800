// Relu, LeakyRelu, PRelu, Clip, Shrink, Sigmoid, Tanh, Elu, Swish.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/known_integers.h"
#include "compiler/frontend/onnx/ops/unary.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

mlir::Value relu(const Scalars &s, mlir::Value x, const NodeView &) { return s.relu(x); }

mlir::Value leakyRelu(const Scalars &s, mlir::Value x, const NodeView &node) {
  return s.leakyRelu(x, node.real("alpha"));
}

mlir::Value elu(const Scalars &s, mlir::Value x, const NodeView &node) {
  return s.elu(x, node.real("alpha"));
}

mlir::Value sigmoid(const Scalars &s, mlir::Value x, const NodeView &) { return s.sigmoid(x); }

mlir::Value tanh(const Scalars &s, mlir::Value x, const NodeView &) {
  return s.make<math::TanhOp>(x);
}

/// x + bias below -lambd, x - bias above lambd, 0 between.
mlir::Value shrink(const Scalars &s, mlir::Value x, const NodeView &node) {
  const auto beyond = [&](arith::CmpFPredicate predicate, float limit, float offset,
                          mlir::Value otherwise) {
    mlir::Value test = s.b.create<arith::CmpFOp>(s.where, predicate, x, s.constant(limit));
    return s.make<arith::SelectOp>(test, s.add(x, s.constant(offset)), otherwise);
  };
  const float lambd = node.real("lambd"), bias = node.real("bias");
  return beyond(arith::CmpFPredicate::OLT, -lambd, bias,
                beyond(arith::CmpFPredicate::OGT, lambd, -bias, s.constant(0)));
}

mlir::Value swish(const Scalars &s, mlir::Value x, const NodeView &node) {
  return s.mul(x, s.sigmoid(s.scale(x, node.real("alpha"))));
}

Operator withAlpha(Operator entry, float byDefault) {
  entry.attributes = {{"alpha", AttributeKind::Float, byDefault}};
  return entry;
}

/// The bounds of a Clip, whether attributes or inputs; nothing where there is none.
std::optional<float> bound(const NodeView &node, const char *name, size_t input) {
  if (node.given(name))
    return node.real(name);
  if (node.has(input))
    return asFloats(node.in(input)).known->floats.front();
  return std::nullopt;
}

Operator clip() {
  Operator entry;
  entry.name = "Clip";
  entry.form = "map: min(max(x, min), max)";
  entry.inputs = {{"input"}};
  entry.outputs = {{"output"}};
  entry.build = [](NodeBuilder &node) {
    std::optional<float> low = bound(node, "min", 1), high = bound(node, "max", 2);
    if (!low && !high) {
      node.result(node.in(0));
      return;
    }
    node.result(node.emit.pointwise({node.in(0)}, [&](const Scalars &s, mlir::ValueRange x) {
      mlir::Value y = x[0];
      if (low)
        y = s.make<arith::MaximumFOp>(y, s.constant(*low));
      if (high)
        y = s.make<arith::MinimumFOp>(y, s.constant(*high));
      return y;
    }));
  };
  return entry;
}

/// Integers of any size, exactly.
void clipIntegers(NodeBuilder &node) {
  HostTensor out = *node.in(0).known;
  for (int64_t &value : out.ints) {
    if (node.has(1))
      value = std::max(value, node.knownInts(1)[0]);
    if (node.has(2))
      value = std::min(value, node.knownInts(2)[0]);
  }
  node.result(Tensor::ofKnown(std::move(out), node.in(0).name));
}

Operator clipWithAttributes() {
  Operator entry = clip();
  entry.attributes = {{"min", AttributeKind::Float}, {"max", AttributeKind::Float}};
  return entry;
}

Operator clipWithInputs(Types types) {
  Operator entry = clip();
  entry.inputs = {{"input", types},
                  {"min", types, Presence::Optional, true},
                  {"max", types, Presence::Optional, true}};
  entry.requirements = {{"inputs 'min' and 'max' must have one element each",
                         [](const NodeView &node) -> std::string {
                           for (size_t i : {1, 2})
                             if (node.has(i) && node.in(i).known->size() != 1)
                               return "shape " + shapeText(node.in(i).shape);
                           return "";
                         },
                         kShapes},
                        sameTypes()};
  if (types == Types::Float)
    return entry;
  entry.requirements.push_back(
      {"bounds of run-time integers must be exact in bf16, or the least or greatest of their type",
       [](const NodeView &node) -> std::string {
         for (const size_t i : {1, 2})
           if (node.has(i) && !isFloatType(node.in(i).type) && !node.in(0).known) {
             const int64_t bound = node.knownInts(i).front();
             const IntegerRange all = rangeOf(node.in(i).type);
             const double end = i == 1 ? all.least : all.most;
             if (!isExact(bound) && static_cast<double>(bound) != end)
               return fmt::format("{}", bound);
           }
         return "";
       }});
  entry.integers = {IntegerRule::Kind::Selected, [](const NodeView &node) {
                      IntegerRange range = rangeOf(node.in(0));
                      if (node.has(1)) {
                        const double low = rangeOf(node.in(1)).least;
                        range = {std::max(range.least, low), std::max(range.most, low)};
                      }
                      if (node.has(2)) {
                        const double high = rangeOf(node.in(2)).most;
                        range = {std::min(range.least, high), std::min(range.most, high)};
                      }
                      return range;
                    }};
  entry.evaluate = [build = entry.build](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      build(node);
    else
      clipIntegers(node);
  };
  return entry;
}

Operator prelu() {
  Operator entry;
  entry.name = "PRelu";
  entry.form = "map: x < 0 ? slope * x : x";
  entry.inputs = {{"X"}, {"slope"}};
  entry.outputs = {{"Y"}};
  entry.requirements = {sameTypes(), broadcastsTo("X", "input 'slope' must broadcast")};
  entry.build = [](NodeBuilder &node) {
    node.result(
        node.emit.pointwise({node.in(0), node.in(1)}, [](const Scalars &s, mlir::ValueRange x) {
          return s.ifNegative(x[0], s.mul(x[1], x[0]));
        }));
  };
  return entry;
}

/// From opset 9 on also of integers.
Operator preluWithIntegers() {
  Operator entry = prelu();
  for (InputSpec &input : entry.inputs)
    input.types = Types::Numeric;
  entry.integers = {IntegerRule::Kind::Computed, [](const NodeView &node) {
                      const IntegerRange x = rangeOf(node.in(0));
                      const IntegerRange below = {std::min(x.least, 0.0), std::min(x.most, 0.0)};
                      return joined({std::max(x.least, 0.0), std::max(x.most, 0.0)},
                                    below * rangeOf(node.in(1)));
                    }};
  entry.evaluate = [build = entry.build](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      return build(node);
    resultOfIntegers(node, node.in(0).type, [&](const std::vector<int64_t> &at) {
      const int64_t x = node.knownInts(0)[at[0]], slope = node.knownInts(1)[at[1]];
      return x < 0 ? static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(slope))
                   : x;
    });
  };
  return entry;
}

} // namespace

void addActivations(OperatorTable &table) {
  const Operator rectifier = unary("Relu", "map: max(x, 0)", relu);
  table.add({6, 13}, rectifier);
  table.add({14}, withIntegers(
                      rectifier, [](int64_t x) { return std::max<int64_t>(x, 0); },
                      IntegerRule::Kind::Selected,
                      [](const IntegerRange &x) {
                        return IntegerRange{std::max(x.least, 0.0), std::max(x.most, 0.0)};
                      }));
  table.add({6, 16}, withAlpha(unary("LeakyRelu", "map: x < 0 ? alpha * x : x", leakyRelu), 0.01F));
  table.add({6, 22}, withAlpha(unary("Elu", "map: x < 0 ? alpha * expm1(x) : x", elu), 1.0F));
  table.add({6, 13}, unary("Sigmoid", "map: 1 / (1 + exp(-x))", sigmoid));
  table.add({6, 13}, calledInput(unary("Tanh", "map: tanh(x)", tanh)));
  table.add({24}, withAlpha(unary("Swish", "map: x / (1 + exp(-alpha * x))", swish), 1.0F));
  table.add({7}, prelu());
  table.add({9, 16}, preluWithIntegers());
  Operator threshold =
      calledInput(unary("Shrink", "map: x < -lambd ? x + bias : x > lambd ? x - bias : 0", shrink));
  threshold.attributes = {{"lambd", AttributeKind::Float, 0.5F},
                          {"bias", AttributeKind::Float, 0.0F}};
  table.add({9}, threshold);
  table.add({6}, clipWithAttributes());
  table.add({11}, clipWithInputs(Types::Float));
  table.add({12, 13}, clipWithInputs(Types::Numeric));
}

} // namespace sluice::frontend::ops
