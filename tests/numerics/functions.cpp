#include "functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace sluice::numerics_test {
namespace {

using frontend::test::Model;
using Real = long double;

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();

void power(Model &model, float exponent) {
  model.floats("e", {}, {exponent});
  model.node("Pow", {"x", "e"}, {"y"});
}

Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real softplus(Real x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
Real clamp(Real x, Real low, Real high) {
  return std::isnan(x) ? x : std::fmin(std::fmax(x, low), high);
}
Real expm1BelowZero(Real x, Real scale) { return x < 0 ? scale * std::expm1(x) : x; }
/// The periodic functions have no value from 4096 on.
Real inDomain(Real x, Real value) { return std::fabs(x) < 4096 ? value : kNaN; }

Real gelu(Real x) { return x * std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; }
/// x / 2 * (1 + tanh(u)) = x * sigmoid(2u), which does not cancel.
Real geluTanh(Real x) {
  const Real u = 0.797884560802865355879892119868763737L * (x + 0.044715L * x * x * x);
  return x * sigmoid(2 * u);
}

#define NODE(op) (+[](Model &model) { model.node(op, {"x"}, {"y"}); })
#define EXACT(expression) (+[](Real x) -> Real { return expression; })

} // namespace

const std::vector<Function> &functions() {
  static const std::vector<Function> all = {
      {"Abs", NODE("Abs"), EXACT(std::fabs(x))},
      {"Neg", NODE("Neg"), EXACT(-x)},
      {"Sign", NODE("Sign"), EXACT(std::isnan(x) || x == 0 ? x : std::copysign(Real(1), x))},
      {"Floor", NODE("Floor"), EXACT(std::floor(x))},
      {"Ceil", NODE("Ceil"), EXACT(std::ceil(x))},
      {"Round", NODE("Round"), EXACT(std::nearbyint(x))},
      {"Relu", NODE("Relu"), EXACT(x < 0 ? 0 : x)},
      {"LeakyRelu, alpha 0.01",
       [](Model &model) { model.node("LeakyRelu", {"x"}, {"y"}).attribute("alpha", 0.01F); },
       EXACT(x < 0 ? Real(0.01F) * x : x)},
      {"ThresholdedRelu", NODE("ThresholdedRelu"), EXACT(x > 1 ? x : 0)},
      {"Elu", NODE("Elu"), EXACT(expm1BelowZero(x, 1))},
      {"Selu", NODE("Selu"),
       EXACT(Real(1.05070102214813232421875F) *
             expm1BelowZero(x, Real(1.67326319217681884765625F)))},
      {"Celu", NODE("Celu"), EXACT(expm1BelowZero(x, 1))},
      {"Sigmoid", NODE("Sigmoid"), EXACT(sigmoid(x))},
      {"HardSigmoid", NODE("HardSigmoid"), EXACT(clamp(Real(0.2F) * x + Real(0.5F), 0, 1))},
      {"HardSwish", NODE("HardSwish"), EXACT(x * clamp(x / 6 + 0.5L, 0, 1))},
      {"Silu: x * Sigmoid",
       [](Model &model) {
         model.node("Sigmoid", {"x"}, {"s"});
         model.node("Mul", {"x", "s"}, {"y"});
       },
       EXACT(x * sigmoid(x))},
      {"Gelu", NODE("Gelu"), EXACT(gelu(x))},
      {"Gelu, tanh",
       [](Model &model) { model.node("Gelu", {"x"}, {"y"}).attribute("approximate", "tanh"); },
       EXACT(geluTanh(x))},
      {"Mish", NODE("Mish"), EXACT(x * std::tanh(softplus(x)))},
      {"Softplus", NODE("Softplus"), EXACT(softplus(x))},
      {"Softsign", NODE("Softsign"), EXACT(x / (1 + std::fabs(x)))},
      {"Exp", NODE("Exp"), EXACT(std::exp(x))},
      {"Log", NODE("Log"), EXACT(std::log(x))},
      {"Log of x + 1",
       [](Model &model) {
         model.floats("one", {}, {1});
         model.node("Add", {"x", "one"}, {"s"});
         model.node("Log", {"s"}, {"y"});
       },
       EXACT(std::log1p(x))},
      {"Sqrt", NODE("Sqrt"), EXACT(std::sqrt(x))},
      {"Reciprocal", NODE("Reciprocal"), EXACT(1 / x)},
      {"1 / Sqrt",
       [](Model &model) {
         model.node("Sqrt", {"x"}, {"s"});
         model.node("Reciprocal", {"s"}, {"y"});
       },
       EXACT(1 / std::sqrt(x))},
      {"Pow 2", [](Model &model) { power(model, 2); }, EXACT(x * x)},
      {"Pow 3", [](Model &model) { power(model, 3); }, EXACT(x * x * x)},
      {"Pow -2", [](Model &model) { power(model, -2); }, EXACT(1 / (x * x))},
      {"Pow 0.5", [](Model &model) { power(model, 0.5F); }, EXACT(std::sqrt(x))},
      {"Erf", NODE("Erf"), EXACT(std::erf(x))},
      {"Tanh", NODE("Tanh"), EXACT(std::tanh(x))},
      {"Sin, below 4096", NODE("Sin"), EXACT(inDomain(x, std::sin(x)))},
      {"Cos, below 4096", NODE("Cos"), EXACT(inDomain(x, std::cos(x)))},
      {"Tan, below 4096", NODE("Tan"), EXACT(inDomain(x, std::tan(x)))},
      {"Asin", NODE("Asin"), EXACT(std::asin(x))},
      {"Acos", NODE("Acos"), EXACT(std::acos(x))},
      {"Atan", NODE("Atan"), EXACT(std::atan(x))},
      {"Sinh", NODE("Sinh"), EXACT(std::sinh(x))},
      {"Cosh", NODE("Cosh"), EXACT(std::cosh(x))},
      {"Asinh", NODE("Asinh"), EXACT(std::asinh(x))},
      {"Acosh", NODE("Acosh"), EXACT(std::acosh(x))},
      {"Atanh", NODE("Atanh"), EXACT(std::atanh(x))},
  };
  return all;
}

} // namespace sluice::numerics_test
