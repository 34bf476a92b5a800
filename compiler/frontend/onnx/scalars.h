// Writes the scalar operations in the body of a map.
#pragma once

#include <cmath>
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace sluice::frontend {

struct Scalars {
  mlir::OpBuilder &b;
  mlir::Location where;

  template <typename Op, typename... Operands> mlir::Value make(Operands... operands) const {
    return b.create<Op>(where, operands...);
  }
  mlir::Value constant(float value) const {
    return b.create<mlir::arith::ConstantOp>(where, b.getF32FloatAttr(value));
  }
  mlir::Value add(mlir::Value l, mlir::Value r) const { return make<mlir::arith::AddFOp>(l, r); }
  mlir::Value sub(mlir::Value l, mlir::Value r) const { return make<mlir::arith::SubFOp>(l, r); }
  mlir::Value mul(mlir::Value l, mlir::Value r) const { return make<mlir::arith::MulFOp>(l, r); }
  mlir::Value div(mlir::Value l, mlir::Value r) const { return make<mlir::arith::DivFOp>(l, r); }
  mlir::Value scale(mlir::Value x, float factor) const { return mul(constant(factor), x); }
  /// min(max(x, low), high)
  mlir::Value clamp(mlir::Value x, float low, float high) const {
    return make<mlir::arith::MinimumFOp>(make<mlir::arith::MaximumFOp>(x, constant(low)),
                                         constant(high));
  }
  /// |x| as arithmetic: a function of its own would want one of the few tables of a core.
  mlir::Value magnitude(mlir::Value x) const {
    return make<mlir::arith::MaximumFOp>(x, scale(x, -1));
  }
  /// log(1 + exp(x))
  mlir::Value softplus(mlir::Value x) const {
    return make<mlir::math::Log1pOp>(make<mlir::math::ExpOp>(x));
  }
  /// x == 0 ? infinity : x; what is divided by it becomes 0.
  mlir::Value infinityForZero(mlir::Value x) const {
    mlir::Value test =
        b.create<mlir::arith::CmpFOp>(where, mlir::arith::CmpFPredicate::OEQ, x, constant(0));
    return b.create<mlir::arith::SelectOp>(where, test,
                                           constant(std::numeric_limits<float>::infinity()), x);
  }
  /// x < 0 ? negative : x
  mlir::Value ifNegative(mlir::Value x, mlir::Value negative) const {
    mlir::Value test =
        b.create<mlir::arith::CmpFOp>(where, mlir::arith::CmpFPredicate::OLT, x, constant(0));
    return b.create<mlir::arith::SelectOp>(where, test, negative, x);
  }
  /// 1 / (1 + exp(-x))
  mlir::Value sigmoid(mlir::Value x) const {
    mlir::Value one = constant(1);
    mlir::Value decay = make<mlir::math::ExpOp>(make<mlir::arith::NegFOp>(x));
    return div(one, add(one, decay));
  }
  mlir::Value relu(mlir::Value x) const { return make<mlir::arith::MaximumFOp>(x, constant(0)); }
  mlir::Value leakyRelu(mlir::Value x, float alpha) const { return ifNegative(x, scale(x, alpha)); }
  /// x > alpha ? x : 0
  mlir::Value thresholdedRelu(mlir::Value x, float alpha) const {
    mlir::Value test =
        b.create<mlir::arith::CmpFOp>(where, mlir::arith::CmpFPredicate::OGT, x, constant(alpha));
    return make<mlir::arith::SelectOp>(test, x, constant(0));
  }
  mlir::Value elu(mlir::Value x, float alpha) const {
    return ifNegative(x, scale(make<mlir::math::ExpM1Op>(x), alpha));
  }
  mlir::Value hardSigmoid(mlir::Value x, float alpha, float beta) const {
    return clamp(add(scale(x, alpha), constant(beta)), 0, 1);
  }
  /// x / 2 * (1 + erf(x / sqrt 2))
  mlir::Value gelu(mlir::Value x) const {
    const mlir::Value bell = make<mlir::math::ErfOp>(scale(x, static_cast<float>(M_SQRT1_2)));
    return mul(scale(x, 0.5F), add(constant(1), bell));
  }
  /// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
  mlir::Value geluByTanh(mlir::Value x) const {
    const mlir::Value inner = add(x, scale(mul(mul(x, x), x), 0.044715F));
    const mlir::Value bell =
        make<mlir::math::TanhOp>(scale(inner, static_cast<float>(std::sqrt(2 / M_PI))));
    return mul(scale(x, 0.5F), add(constant(1), bell));
  }
  /// x / (1 + |x|)
  mlir::Value softsign(mlir::Value x) const {
    return div(x, add(constant(1), make<mlir::math::AbsFOp>(x)));
  }
};

} // namespace sluice::frontend
