// Pow.
#include "compiler/frontend/onnx/ops/power.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

/// The largest magnitude of an exponent that is taken apart.
constexpr float kMostPower = 1024;

/// x^count by multiplication.
mlir::Value wholePower(const Scalars &s, mlir::Value x, int count) {
  mlir::Value out;
  for (mlir::Value square = x; count > 0; count /= 2) {
    if (count % 2 != 0)
      out = out ? s.mul(out, square) : square;
    if (count > 1)
      square = s.mul(square, square);
  }
  return out;
}

/// Different exponents, each a function of its own.
constexpr size_t kMostPowers = 8;

std::set<float> exponents(const NodeView &node) {
  const Tensor floats = asFloats(node.in(1));
  return {floats.known->floats.begin(), floats.known->floats.end()};
}

/// Few exponents that are known, each a function of its own; there is none for NaN.
bool areTakenApart(const NodeView &node) {
  if (!node.in(1).known)
    return false;
  const Tensor floats = asFloats(node.in(1));
  if (std::ranges::any_of(floats.known->floats, [](float one) { return std::isnan(one); }))
    return false;
  const size_t count = exponents(node).size();
  return count >= 1 && count <= kMostPowers;
}

mlir::Value choose(const Scalars &s, arith::CmpFPredicate predicate, mlir::Value left, float right,
                   mlir::Value then, mlir::Value otherwise) {
  const mlir::Value test = s.make<arith::CmpFOp>(predicate, left, s.constant(right));
  return s.make<arith::SelectOp>(test, then, otherwise);
}

/// What the sign of a negative number's power is: 1 for an even exponent, -1 for an odd one, and
/// for a fraction NaN. A function of one variable.
mlir::Value signOfPower(const Scalars &s, mlir::Value y) {
  const auto isWhole = [&](mlir::Value v) {
    return s.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, s.make<math::FloorOp>(v), v);
  };
  const mlir::Value odd = s.make<arith::SelectOp>(
      isWhole(y), s.constant(-1), s.constant(std::numeric_limits<float>::quiet_NaN()));
  return s.make<arith::SelectOp>(isWhole(s.scale(y, 0.5F)), s.constant(1), odd);
}

/// x ^ y = exp(y * log |x|), with its sign. Where the product is no number the power may be one:
/// whatever to the power of 0, and 1 to that of infinity. The logarithm and the product are tensors
/// of their own, as the machine keeps them.
Tensor powerAtRunTime(Emitter &emit, const Tensor &x, const Tensor &y) {
  const Tensor size =
      emit.pointwise({x}, [](const Scalars &s, mlir::ValueRange v) { return s.magnitude(v[0]); });
  const Tensor logarithm = emit.pointwise(
      {size}, [](const Scalars &s, mlir::ValueRange v) { return s.make<math::LogOp>(v[0]); });
  const Tensor product = emit.pointwise(
      {logarithm, y}, [](const Scalars &s, mlir::ValueRange v) { return s.mul(v[0], v[1]); });
  return emit.pointwise({product, size, x, y}, [](const Scalars &s, mlir::ValueRange v) {
    const mlir::Value one = s.constant(1);
    mlir::Value power = s.make<math::ExpOp>(v[0]);
    power = choose(s, arith::CmpFPredicate::OEQ, v[1], 1, one, power);
    power = choose(s, arith::CmpFPredicate::OEQ, v[3], 0, one, power);
    return s.mul(power, choose(s, arith::CmpFPredicate::OLT, v[2], 0, signOfPower(s, v[3]), one));
  });
}

Tensor powers(NodeBuilder &node, const std::set<float> &distinct) {
  std::vector<Tensor> operands = {asFloats(node.in(1))};
  std::vector<float> all;
  for (const float one : distinct) {
    all.push_back(one);
    operands.push_back(node.emit.pointwise(
        {node.in(0)}, [one](const Scalars &s, mlir::ValueRange x) { return power(s, x[0], one); }));
  }
  if (all.size() == 1 && node.in(1).rank() <= node.in(0).rank())
    return operands.back();
  return node.emit.pointwise(operands, [&](const Scalars &s, mlir::ValueRange x) {
    mlir::Value y = x[1];
    for (size_t i = 1; i < all.size(); ++i) {
      const mlir::Value test =
          s.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x[0], s.constant(all[i]));
      y = s.make<arith::SelectOp>(test, x[i + 1], y);
    }
    return y;
  });
}

double numberAt(const HostTensor &tensor, int64_t i) {
  return tensor.isFloat() ? tensor.floats[i] : static_cast<double>(tensor.ints[i]);
}

/// Of integers, which become one again toward zero.
void evaluatePow(NodeBuilder &node) {
  const HostTensor &x = *node.in(0).known, &y = *node.in(1).known;
  HostTensor out{x.type, *broadcastShape({x.shape, y.shape}), {}, {}};
  const int64_t count = elementCount(out.shape, kMostFoldedElements);
  if (count < 0)
    throw NodeError{kShapes,
                    fmt::format("the result has more than {} elements", kMostFoldedElements)};
  for (int64_t i = 0; i < count; ++i) {
    const double value = std::pow(numberAt(x, broadcastIndex(x.shape, out.shape, i)),
                                  numberAt(y, broadcastIndex(y.shape, out.shape, i)));
    if (x.isFloat())
      out.floats.push_back(roundToType(value, x.type));
    else if (std::abs(value) < 0x1p53)
      out.ints.push_back(wrapToType(static_cast<int64_t>(value), x.type));
    else
      throw NodeError{
          kNotSupported,
          fmt::format("the result {} is not exact; integers must be below 2^53", value)};
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

Operator pow() {
  Operator entry;
  entry.name = "Pow";
  entry.form = "map: x ^ y; for several constant exponents per element, for many or run-time "
               "exponents exp(y * log |x|) with its sign";
  entry.inputs = {{"X", Types::Numeric}, {"Y", Types::Numeric}};
  entry.outputs = {{"Z"}};
  entry.requirements = {
      broadcastable(),
      {"input 'X' must be a floating-point type if an input is computed at run time",
       [](const NodeView &node) -> std::string {
         return node.allKnown() || isFloatType(node.in(0).type) ? ""
                                                                : dataTypeName(node.in(0).type);
       }}};
  entry.build = [](NodeBuilder &node) {
    const bool apart = areTakenApart(node);
    Tensor result = apart ? powers(node, exponents(node))
                          : powerAtRunTime(node.emit, asFloats(node.in(0)), asFloats(node.in(1)));
    if (!apart)
      node.caution = "a power x^y as exp(y log |x|) has an error up to |y log x| / 256 of itself";
    result.type = node.in(0).type;
    node.result(std::move(result));
  };
  entry.evaluate = evaluatePow;
  return entry;
}

} // namespace

mlir::Value power(const Scalars &s, mlir::Value x, float exponent) {
  const float size = std::abs(exponent);
  if (exponent == 0.5F)
    return s.make<math::SqrtOp>(x);
  if ((size <= 2 && size * 2 == std::floor(size * 2)) || !(size <= kMostPower))
    return s.make<math::PowFOp>(x, s.constant(exponent));
  const int quarters = static_cast<int>(std::nearbyint(size * 4));
  const float rest = size - static_cast<float>(quarters) / 4;
  std::vector<mlir::Value> factors;
  if (quarters / 4 > 0)
    factors.push_back(wholePower(s, x, quarters / 4));
  if (quarters % 4 != 0) {
    const mlir::Value root = s.make<math::SqrtOp>(x);
    if (quarters % 4 >= 2)
      factors.push_back(root);
    if (quarters % 2 != 0)
      factors.push_back(s.make<math::SqrtOp>(root));
  }
  if (rest != 0)
    factors.push_back(s.make<math::ExpOp>(s.scale(s.make<math::LogOp>(x), rest)));
  mlir::Value out = factors.front();
  for (size_t i = 1; i < factors.size(); ++i)
    out = s.mul(out, factors[i]);
  return exponent < 0 ? s.div(s.constant(1), out) : out;
}

void addPower(OperatorTable &table) { table.add({7, 12, 13, 15}, pow()); }

} // namespace sluice::frontend::ops
