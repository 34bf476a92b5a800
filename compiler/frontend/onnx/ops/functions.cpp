// Abs, Exp, Log, Sqrt, Reciprocal, Erf, Gelu, Softplus, Softsign, HardSigmoid,
// HardSwish, Mish, Selu, Celu, ThresholdedRelu, Sign, Floor, Ceil, Round: maps of one operand.
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/unary.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

mlir::Value reciprocal(const Scalars &s, mlir::Value x, const NodeView &) {
  return s.div(s.constant(1), x);
}

mlir::Value softplus(const Scalars &s, mlir::Value x, const NodeView &) { return s.softplus(x); }

mlir::Value softsign(const Scalars &s, mlir::Value x, const NodeView &) { return s.softsign(x); }

mlir::Value hardSigmoid(const Scalars &s, mlir::Value x, const NodeView &node) {
  return s.hardSigmoid(x, node.real("alpha"), node.real("beta"));
}

mlir::Value hardSwish(const Scalars &s, mlir::Value x, const NodeView &) {
  return s.mul(x, s.clamp(s.add(s.scale(x, 1.0F / 6), s.constant(0.5F)), 0, 1));
}

mlir::Value mish(const Scalars &s, mlir::Value x, const NodeView &) {
  return s.mul(x, s.make<math::TanhOp>(s.softplus(x)));
}

mlir::Value selu(const Scalars &s, mlir::Value x, const NodeView &node) {
  mlir::Value decay = s.scale(s.make<math::ExpM1Op>(x), node.real("alpha"));
  return s.scale(s.ifNegative(x, decay), node.real("gamma"));
}

mlir::Value celu(const Scalars &s, mlir::Value x, const NodeView &node) {
  float alpha = node.real("alpha");
  return s.ifNegative(x, s.scale(s.make<math::ExpM1Op>(s.scale(x, 1 / alpha)), alpha));
}

mlir::Value thresholdedRelu(const Scalars &s, mlir::Value x, const NodeView &node) {
  return s.thresholdedRelu(x, node.real("alpha"));
}

/// -1, 0 or 1; NaN of NaN.
mlir::Value sign(const Scalars &s, mlir::Value x, const NodeView &) {
  mlir::Value test = s.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, s.constant(0));
  return s.make<arith::SelectOp>(test, s.constant(1), s.ifNegative(x, s.constant(-1)));
}

/// That of the least integer is the least integer.
int64_t magnitude(int64_t x) { return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x; }

int64_t signOf(int64_t x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// An entry that shape arithmetic uses: known operands have known results.
Operator known(Operator entry, float (*function)(float)) {
  entry.evaluate = [function](NodeBuilder &node) {
    HostTensor out = *node.in(0).known;
    for (float &value : out.floats)
      value = function(value);
    node.result(Tensor::ofKnown(std::move(out)));
  };
  return entry;
}

mlir::Value gelu(const Scalars &s, mlir::Value x, const NodeView &node) {
  return node.attribute<std::string>("approximate") == "tanh" ? s.geluByTanh(x) : s.gelu(x);
}

Operator withFloats(Operator entry, std::vector<AttributeSpec> attributes) {
  entry.attributes = std::move(attributes);
  return entry;
}

AttributeSpec real(const char *name, float byDefault) {
  return {name, AttributeKind::Float, byDefault};
}

Operator geluEntry() {
  Operator entry = unary("Gelu", "map: x / 2 * (1 + erf(x / sqrt 2)), or its tanh form", gelu);
  entry.attributes = {{"approximate", AttributeKind::String, std::string("none")}};
  entry.requirements = {{"attribute 'approximate' must be 'none' or 'tanh'",
                         [](const NodeView &node) -> std::string {
                           const auto &form = node.attribute<std::string>("approximate");
                           return form == "none" || form == "tanh" ? "" : inQuotes(form);
                         },
                         kShapes}};
  return entry;
}

Operator celuEntry() {
  Operator entry = withFloats(unary("Celu", "map: x < 0 ? alpha * expm1(x / alpha) : x", celu),
                              {real("alpha", 1)});
  entry.requirements = {
      {"attribute 'alpha' must not be 0",
       [](const NodeView &node) -> std::string { return node.real("alpha") != 0 ? "" : "0"; }}};
  return entry;
}

} // namespace

void addFunctions(OperatorTable &table) {
  table.add({6, 13}, withIntegers(unary<math::AbsFOp>("Abs", "map: |x|"), magnitude,
                                  IntegerRule::Kind::Magnitude, [](const IntegerRange &x) {
                                    return IntegerRange{0, x.magnitude()};
                                  }));
  table.add({6, 13}, calledInput(unary<math::ExpOp>("Exp", "map: exp(x)")));
  table.add({6, 13}, calledInput(unary<math::LogOp>("Log", "map: log(x)")));
  table.add({6, 13}, unary<math::SqrtOp>("Sqrt", "map: sqrt(x)"));
  table.add({9, 13},
            withIntegers(calledInput(unary("Sign", "map: x > 0 ? 1 : x < 0 ? -1 : x", sign)),
                         signOf, IntegerRule::Kind::Selected,
                         [](const IntegerRange &) { return IntegerRange{-1, 1}; }));
  table.add({6, 13}, known(unary<math::FloorOp>("Floor", "map: floor(x)"), std::floor));
  table.add({6, 13}, known(unary<math::CeilOp>("Ceil", "map: ceil(x)"), std::ceil));
  table.add({11, 22}, known(unary<math::RoundEvenOp>("Round", "map: round(x), ties to even"),
                            std::nearbyint));
  table.add({6, 13}, unary("Reciprocal", "map: 1 / x", reciprocal));
  table.add({9, 13}, calledInput(unary<math::ErfOp>("Erf", "map: erf(x)")));
  table.add({20}, geluEntry());
  table.add({1, 22}, unary("Softplus", "map: log(1 + exp(x))", softplus));
  table.add({1, 22}, calledInput(unary("Softsign", "map: x / (1 + |x|)", softsign)));
  table.add({6, 22},
            withFloats(unary("HardSigmoid", "map: min(max(alpha * x + beta, 0), 1)", hardSigmoid),
                       {real("alpha", 0.2F), real("beta", 0.5F)}));
  table.add({14, 22}, unary("HardSwish", "map: x * min(max(x / 6 + 0.5, 0), 1)", hardSwish));
  table.add({18, 22}, unary("Mish", "map: x * tanh(log(1 + exp(x)))", mish));
  table.add({6, 22}, withFloats(unary("Selu", "map: gamma * (x < 0 ? alpha * expm1(x) : x)", selu),
                                {real("alpha", 1.67326319217681884765625F),
                                 real("gamma", 1.05070102214813232421875F)}));
  table.add({12}, celuEntry());
  table.add({10, 22},
            withFloats(unary("ThresholdedRelu", "map: x > alpha ? x : 0", thresholdedRelu),
                       {real("alpha", 1)}));
}

} // namespace sluice::frontend::ops
