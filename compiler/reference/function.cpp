#include "compiler/reference/function.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

namespace sluice::reference {
namespace {

template <double (*F)(double)> double unary(const double *x) { return F(x[0]); }
template <double (*F)(double, double)> double binary(const double *x) { return F(x[0], x[1]); }

double maximum(const double *x) {
  if (std::isnan(x[0]) || std::isnan(x[1]))
    return std::numeric_limits<double>::quiet_NaN();
  if (x[0] == x[1])
    return std::signbit(x[0]) ? x[1] : x[0];
  return x[0] > x[1] ? x[0] : x[1];
}

double minimum(const double *x) {
  if (std::isnan(x[0]) || std::isnan(x[1]))
    return std::numeric_limits<double>::quiet_NaN();
  if (x[0] == x[1])
    return std::signbit(x[0]) ? x[0] : x[1];
  return x[0] < x[1] ? x[0] : x[1];
}

bool unordered(const double *x) { return std::isnan(x[0]) || std::isnan(x[1]); }

struct Entry {
  Function function;
  std::string_view name;
  ScalarStep step;
};

/// In the order of the enumeration.
constexpr Entry kEntries[] = {
    {Function::Add, "arith.addf", [](const double *x) { return x[0] + x[1]; }},
    {Function::Sub, "arith.subf", [](const double *x) { return x[0] - x[1]; }},
    {Function::Mul, "arith.mulf", [](const double *x) { return x[0] * x[1]; }},
    {Function::Div, "arith.divf", [](const double *x) { return x[0] / x[1]; }},
    {Function::Rem, "arith.remf", binary<std::fmod>},
    {Function::Neg, "arith.negf", [](const double *x) { return -x[0]; }},
    {Function::Maximum, "arith.maximumf", maximum},
    {Function::Minimum, "arith.minimumf", minimum},
    {Function::MaxNum, "arith.maxnumf", binary<std::fmax>},
    {Function::MinNum, "arith.minnumf", binary<std::fmin>},
    {Function::Select, "arith.select", [](const double *x) { return x[0] != 0 ? x[1] : x[2]; }},
    {Function::FromBool, "arith.uitofp", [](const double *x) { return x[0]; }},
    {Function::And, "arith.andi", [](const double *x) { return x[0] * x[1]; }},
    {Function::Or, "arith.ori", [](const double *x) { return std::fmax(x[0], x[1]); }},
    {Function::Xor, "arith.xori",
     [](const double *x) { return static_cast<double>(x[0] != x[1]); }},
    {Function::Abs, "math.absf", unary<std::fabs>},
    {Function::Acos, "math.acos", unary<std::acos>},
    {Function::Acosh, "math.acosh", unary<std::acosh>},
    {Function::Asin, "math.asin", unary<std::asin>},
    {Function::Asinh, "math.asinh", unary<std::asinh>},
    {Function::Atan, "math.atan", unary<std::atan>},
    {Function::Atan2, "math.atan2", binary<std::atan2>},
    {Function::Atanh, "math.atanh", unary<std::atanh>},
    {Function::Cbrt, "math.cbrt", unary<std::cbrt>},
    {Function::Ceil, "math.ceil", unary<std::ceil>},
    {Function::CopySign, "math.copysign", binary<std::copysign>},
    {Function::Cos, "math.cos", unary<std::cos>},
    {Function::Cosh, "math.cosh", unary<std::cosh>},
    {Function::Erf, "math.erf", unary<std::erf>},
    {Function::Exp, "math.exp", unary<std::exp>},
    {Function::Exp2, "math.exp2", unary<std::exp2>},
    {Function::Expm1, "math.expm1", unary<std::expm1>},
    {Function::Floor, "math.floor", unary<std::floor>},
    {Function::Fma, "math.fma", [](const double *x) { return std::fma(x[0], x[1], x[2]); }},
    {Function::Log, "math.log", unary<std::log>},
    {Function::Log10, "math.log10", unary<std::log10>},
    {Function::Log1p, "math.log1p", unary<std::log1p>},
    {Function::Log2, "math.log2", unary<std::log2>},
    {Function::Pow, "math.powf", binary<std::pow>},
    {Function::Round, "math.round", unary<std::round>},
    {Function::RoundEven, "math.roundeven", unary<std::nearbyint>},
    {Function::Rsqrt, "math.rsqrt", [](const double *x) { return 1 / std::sqrt(x[0]); }},
    {Function::Sin, "math.sin", unary<std::sin>},
    {Function::Sinh, "math.sinh", unary<std::sinh>},
    {Function::Sqrt, "math.sqrt", unary<std::sqrt>},
    {Function::Tan, "math.tan", unary<std::tan>},
    {Function::Tanh, "math.tanh", unary<std::tanh>},
    {Function::Trunc, "math.trunc", unary<std::trunc>},
    {Function::False, "arith.cmpf", [](const double *) { return 0.0; }},
    {Function::OrderedEq, "arith.cmpf",
     [](const double *x) { return static_cast<double>(x[0] == x[1]); }},
    {Function::OrderedGt, "arith.cmpf",
     [](const double *x) { return static_cast<double>(x[0] > x[1]); }},
    {Function::OrderedGe, "arith.cmpf",
     [](const double *x) { return static_cast<double>(x[0] >= x[1]); }},
    {Function::OrderedLt, "arith.cmpf",
     [](const double *x) { return static_cast<double>(x[0] < x[1]); }},
    {Function::OrderedLe, "arith.cmpf",
     [](const double *x) { return static_cast<double>(x[0] <= x[1]); }},
    {Function::OrderedNe, "arith.cmpf",
     [](const double *x) { return static_cast<double>(!unordered(x) && x[0] != x[1]); }},
    {Function::Ordered, "arith.cmpf",
     [](const double *x) { return static_cast<double>(!unordered(x)); }},
    {Function::UnorderedEq, "arith.cmpf",
     [](const double *x) { return static_cast<double>(unordered(x) || x[0] == x[1]); }},
    {Function::UnorderedGt, "arith.cmpf",
     [](const double *x) { return static_cast<double>(!(x[0] <= x[1])); }},
    {Function::UnorderedGe, "arith.cmpf",
     [](const double *x) { return static_cast<double>(!(x[0] < x[1])); }},
    {Function::UnorderedLt, "arith.cmpf",
     [](const double *x) { return static_cast<double>(!(x[0] >= x[1])); }},
    {Function::UnorderedLe, "arith.cmpf",
     [](const double *x) { return static_cast<double>(!(x[0] > x[1])); }},
    {Function::UnorderedNe, "arith.cmpf",
     [](const double *x) { return static_cast<double>(x[0] != x[1]); }},
    {Function::Unordered, "arith.cmpf",
     [](const double *x) { return static_cast<double>(unordered(x)); }},
    {Function::True, "arith.cmpf", [](const double *) { return 1.0; }},
    {Function::Erfc, "erfc", unary<std::erfc>},
    {Function::OnePlusTanh, "1 + tanh",
     [](const double *x) { return 2 / (1 + std::exp(-2 * x[0])); }},
    {Function::Softplus, "softplus",
     [](const double *x) { return std::fmax(x[0], 0) + std::log1p(std::exp(-std::fabs(x[0]))); }},
    {Function::AsinhBelow, "asinh below 4096",
     [](const double *x) {
       constexpr double inf = std::numeric_limits<double>::infinity();
       return std::fabs(x[0]) >= 4096 ? std::copysign(inf, x[0]) : std::asinh(x[0]);
     }},
    {Function::ToBf16, "rounding to bf16",
     [](const double *x) {
       // Numbers beyond fp32 do not occur.
       const auto bits = std::bit_cast<uint32_t>(static_cast<float>(x[0]));
       return std::isnan(x[0]) ? x[0]
                               : static_cast<double>(std::bit_cast<float>(
                                     (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000));
     }},
    {Function::ToFp32, "rounding to fp32",
     [](const double *x) { return static_cast<double>(static_cast<float>(x[0])); }},
};

consteval bool inOrder() {
  for (size_t i = 0; i < std::size(kEntries); ++i)
    if (kEntries[i].function != static_cast<Function>(i))
      return false;
  return true;
}
static_assert(inOrder() && std::size(kEntries) == static_cast<size_t>(Function::ToFp32) + 1);

} // namespace

ScalarStep stepOf(Function function) { return kEntries[static_cast<size_t>(function)].step; }

std::string_view nameOf(Function function) { return kEntries[static_cast<size_t>(function)].name; }

std::optional<Function> functionNamed(std::string_view operation) {
  for (const Entry &entry : kEntries)
    if (entry.name == operation && entry.function < Function::False)
      return entry.function;
  return std::nullopt;
}

} // namespace sluice::reference
