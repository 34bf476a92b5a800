// The scalar functions that bodies of maps are made of, and what each computes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::reference {

/// An operation of `arith` or `math`, or one that simplification makes of several.
enum class Function : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Neg,
  Maximum,
  Minimum,
  MaxNum,
  MinNum,
  Select,
  FromBool,
  And,
  Or,
  Xor,
  Abs,
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atan,
  Atan2,
  Atanh,
  Cbrt,
  Ceil,
  CopySign,
  Cos,
  Cosh,
  Erf,
  Exp,
  Exp2,
  Expm1,
  Floor,
  Fma,
  Log,
  Log10,
  Log1p,
  Log2,
  Pow,
  Round,
  RoundEven,
  Rsqrt,
  Sin,
  Sinh,
  Sqrt,
  Tan,
  Tanh,
  Trunc,
  // Comparisons, in the order of arith.cmpf's predicates.
  False,
  OrderedEq,
  OrderedGt,
  OrderedGe,
  OrderedLt,
  OrderedLe,
  OrderedNe,
  Ordered,
  UnorderedEq,
  UnorderedGt,
  UnorderedGe,
  UnorderedLt,
  UnorderedLe,
  UnorderedNe,
  Unordered,
  True,
  // No operations: forms that stay exact where those they replace do not.
  Erfc,        ///< 1 + erf(-x)
  OnePlusTanh, ///< 1 + tanh(x)
  Softplus,    ///< log(1 + exp(x))
  AsinhBelow,  ///< asinh(x) below 4096, infinite from there on
  ToBf16,      ///< the nearest bf16 number, ties to even
  ToFp32,      ///< the nearest fp32 number
};

/// Computes a function of its operands, in double; booleans are 0 and 1.
using ScalarStep = double (*)(const double *operands);
ScalarStep stepOf(Function function);

/// "math.exp", or what a function that is no operation is called in messages.
std::string_view nameOf(Function function);

/// The function of an operation of this name, "math.exp"; comparisons are not told by their names.
std::optional<Function> functionNamed(std::string_view operation);

} // namespace sluice::reference
