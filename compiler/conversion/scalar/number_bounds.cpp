#include "compiler/conversion/scalar/number_bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sluice::rows {
namespace {

using reference::Function;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Beyond it bf16 does not have all integers.
constexpr double kMostStored = 256;

/// Rounding to bf16 moves a number by this share of itself at most.
constexpr double kBf16Share = 0x1p-8;

/// Integers beyond are not those of a quantised tensor.
constexpr double kFarthest = 0x1p16;

/// 0 where one factor is 0, whatever the other is.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

/// The distance of a number from the real one, whatever the number is.
double distanceOf(const Number &n) { return n.distance + times(n.share, n.most()); }

Number sum(const Number &a, const Number &b, bool subtract) {
  Number out;
  out.low = subtract ? a.low - b.high : a.low + b.low;
  out.high = subtract ? a.high - b.low : a.high + b.high;
  out.isInteger = a.isInteger && b.isInteger;
  if (b.isExact() && std::isfinite(b.most())) { // a share of a is one of the sum, and of b
    out.distance = a.distance + times(a.share, b.most());
    out.share = a.share;
  } else {
    out.distance = distanceOf(a) + distanceOf(b);
  }
  return out;
}

Number product(const Number &a, const Number &b) {
  Number out;
  const double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                            times(a.high, b.high)};
  out.low = *std::ranges::min_element(corners);
  out.high = *std::ranges::max_element(corners);
  out.isInteger = a.isInteger && b.isInteger;
  out.share = a.share + b.share + a.share * b.share;
  out.distance = times(a.distance, b.most() * (1 + b.share)) +
                 times(b.distance, a.most() * (1 + a.share)) + times(a.distance, b.distance);
  return out;
}

Number reciprocal(const Number &x) {
  Number out;
  if (x.low > 0 || x.high < 0) {
    out.low = 1 / x.high;
    out.high = 1 / x.low;
    const double least = std::min(std::fabs(x.low), std::fabs(x.high)) - x.distance;
    out.distance = x.distance == 0 ? 0 : least > 0 ? x.distance / (least * least) : kInf;
  } else {
    out.distance = x.distance == 0 ? 0 : kInf;
  }
  out.share = x.share < 0.5 ? x.share / (1 - x.share) : kInf;
  return out;
}

Number limit(const Number &a, const Number &b, bool isMax) {
  Number out = a;
  out.low = isMax ? std::max(a.low, b.low) : std::min(a.low, b.low);
  out.high = isMax ? std::max(a.high, b.high) : std::min(a.high, b.high);
  out.isInteger = a.isInteger && b.isInteger;
  if (b.isExact() && a.distance == 0 && std::isfinite(b.most()))
    return out; // the nearer to the limit, the smaller the share is
  out.share = 0;
  out.distance = std::max(distanceOf(a), distanceOf(b));
  return out;
}

/// A function that grows, whose slope is at most `slope`.
Number growing(const Number &x, const ScalarNode &node, double slope) {
  Number out;
  out.low = evaluateScalar(node, &x.low);
  out.high = evaluateScalar(node, &x.high);
  out.distance = times(distanceOf(x), slope);
  return out;
}

Number callOf(const ScalarNode &node, const Number &x) {
  switch (node.function) {
  case Function::RoundEven:
    return Number::exact(std::nearbyint(x.low), std::nearbyint(x.high), true);
  case Function::Exp: {
    Number out = growing(x, node, 0);
    out.distance = 0;
    out.share = std::expm1(distanceOf(x));
    return out;
  }
  case Function::Tanh:
    return growing(x, node, 1);
  case Function::Erf:
    return growing(x, node, 1.1284);
  case Function::Sqrt: {
    Number out;
    out.low = 0;
    out.high = std::sqrt(std::max(x.high, 0.0));
    out.share = x.share;
    out.distance = x.distance == 0 ? 0 : std::sqrt(x.distance);
    return out;
  }
  case Function::Abs: {
    Number out = x;
    out.low = std::max({0.0, x.low, -x.high});
    out.high = x.most();
    return out;
  }
  default: {
    Number out; // of an exact number, a table has the function
    out.distance = x.isExact() ? 0 : kInf;
    return out;
  }
  }
}

Number resultOf(const ScalarNode &node, const std::vector<Number> &args) {
  const auto arg = [&](size_t i) -> const Number & { return args[node.args[i]]; };
  switch (node.op) {
  case ScalarOp::Add:
  case ScalarOp::Sub:
    return sum(arg(0), arg(1), node.op == ScalarOp::Sub);
  case ScalarOp::Mul:
    return product(arg(0), arg(1));
  case ScalarOp::Div:
    return node.count == 3 ? product(arg(0), arg(2)) : reciprocal(arg(1));
  case ScalarOp::Max:
  case ScalarOp::Min:
    return limit(arg(0), arg(1), node.op == ScalarOp::Max);
  case ScalarOp::Call:
    if (node.count == 1)
      return callOf(node, arg(0));
    break;
  case ScalarOp::Select: {
    Number out = either(arg(1), arg(2));
    if (!arg(0).isExact())
      out.distance = kInf;
    return out;
  }
  default:
    break;
  }
  Number out; // a comparison, or a function of several numbers
  bool isExact = true;
  for (unsigned i = 0; i < node.count; ++i)
    isExact &= arg(i).isExact();
  if (node.isBoolean)
    out = Number::exact(0, 1, true);
  out.distance = isExact ? 0 : kInf;
  return out;
}

/// Half the distance of neighbours in bf16.
double halfStep(double number) {
  int exponent = 0;
  std::frexp(number, &exponent);
  return number == 0 ? 0 : std::ldexp(1.0, exponent - 9);
}

/// Numbers of a smaller magnitude are sampled no more: functions hardly change between them.
constexpr int kLeastExponent = -12, kMostExponent = 16;

/// The largest change of a function whose argument is moved by `distance` + `share` of it and, if
/// `isStored`, by rounding to bf16. Its arguments are all bf16 numbers of a range, so that a jump
/// between two of them is found too.
double largestChange(const std::function<double(double)> &function, const Number &range,
                     double distance, double share, bool isStored, const IntegerSpan &span) {
  const auto limited = [&](double x) {
    const double y = function(x);
    return std::isnan(y)
               ? kInf
               : std::clamp(y, static_cast<double>(span.first), static_cast<double>(span.last));
  };
  double largest = 0;
  const auto look = [&](double x) {
    if (x < range.low || x > range.high)
      return;
    const double by = distance + times(share, std::fabs(x)) + (isStored ? halfStep(x) : 0);
    const double y = limited(x);
    for (const double other : {x - by, x + by}) {
      const double moved = limited(other);
      largest = y == moved ? largest : std::max(largest, std::fabs(y - moved));
    }
  };
  look(0);
  for (int exponent = kLeastExponent; exponent < kMostExponent; ++exponent)
    if (const double least = std::ldexp(1.0, exponent); least <= range.most())
      for (int i = 0; i < 128; ++i) {
        look(least * (1 + i / 128.0));
        look(-least * (1 + i / 128.0));
      }
  return largest;
}

/// Returns how far a number of the program may be from the real one, if all of it is a chain of
/// functions of one number each; infinity if it is not.
double chainDistance(const Expr &expr, NodeId node, const IntegerSpan &span,
                     const RoundingWay &way) {
  std::vector<NodeId> cuts = expr.cuts(node);
  cuts.push_back(node);
  const NodeId first = cuts.front();
  if (!way.isOneTable) // what is no part of the chain may be stored too
    for (const NodeId part : expr.reachable(node))
      if (part > first && !expr.isConstant(part) && std::ranges::find(cuts, part) == cuts.end())
        return kInf;
  double sum = 0, most = 0;
  for (const NodeId cut : cuts) {
    const bool isInput = expr[cut].op == ScalarOp::Input;
    const Number &known = isInput ? way.inputs[expr[cut].input] : way.numbers[cut];
    if (cut == first && !(std::isfinite(known.distance) && std::isfinite(known.share)))
      return kInf;
    const auto function = expr.functionOf(node, cut);
    if (cut == first)
      sum = largestChange(function, known, known.distance, known.share, false, span);
    const double change =
        known.isExactInteger() ? 0 : largestChange(function, known, 0, 0, true, span);
    most = way.isOneTable ? std::max(most, change) : most + change;
  }
  return sum + most;
}

} // namespace

Number Number::exact(double low, double high, bool isInteger) {
  return {low, high, 0, 0, isInteger};
}

bool Number::isExactInteger() const { return isInteger && isExact() && most() <= kMostStored; }

double Number::most() const { return std::max(std::fabs(low), std::fabs(high)); }

Number either(const Number &a, const Number &b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), std::max(a.distance, b.distance),
          std::max(a.share, b.share), a.isInteger && b.isInteger};
}

Number stored(Number number) {
  if (!number.isExactInteger())
    number.share += kBf16Share * (1 + number.share);
  return number;
}

std::vector<Number> numbersOf(const Expr &expr, const std::vector<Number> &inputs) {
  std::vector<Number> numbers(expr.size());
  for (const NodeId id : expr.reachable(expr.result)) {
    const ScalarNode &node = expr[id];
    if (node.op == ScalarOp::Constant)
      numbers[id] = Number::exact(node.value, node.value, node.value == std::trunc(node.value));
    else
      numbers[id] = node.op == ScalarOp::Input ? inputs[node.input] : resultOf(node, numbers);
    // A step limits the integers that it rounds to before it stores them.
    const bool isLimited =
        node.op == ScalarOp::Call ||
        (node.count == 2 && node.op != ScalarOp::Mul && expr.isConstant(node.args[1]));
    if (node.op != ScalarOp::Constant &&
        !(isLimited && numbers[id].isInteger && numbers[id].isExact()))
      numbers[id] = stored(numbers[id]);
    if (std::isnan(numbers[id].low) || std::isnan(numbers[id].high))
      numbers[id] = Number();
    if (std::isnan(numbers[id].distance) || std::isnan(numbers[id].share)) {
      numbers[id].distance = kInf;
      numbers[id].share = 0;
    }
  }
  return numbers;
}

std::optional<IntegerSpan> spanOf(const Expr &expr, NodeId rounding) {
  for (const NodeId node : expr.reachable(expr.result)) {
    const ScalarNode &n = expr[node];
    const bool isLimit =
        (n.op == ScalarOp::Max || n.op == ScalarOp::Min) && expr.isConstant(n.args[1]);
    if (!isLimit || node <= rounding)
      continue;
    const std::vector<NodeId> cuts = expr.cuts(node);
    if (std::ranges::find(cuts, rounding) == cuts.end())
      continue;
    const auto function = expr.functionOf(node, rounding);
    const double below = function(-kInf), above = function(kInf);
    if (function(-kFarthest) != below || function(kFarthest) != above || below == above)
      continue;
    // The function grows: search where it begins to change and where it ends.
    int64_t first = -static_cast<int64_t>(kFarthest), last = static_cast<int64_t>(kFarthest);
    for (int64_t step = last; step > 0; step /= 2) {
      if (first + step < last && function(static_cast<double>(first + step)) == below)
        first += step;
      if (last - step > first && function(static_cast<double>(last - step)) == above)
        last -= step;
    }
    return IntegerSpan{first, last};
  }
  return std::nullopt;
}

std::optional<int64_t> differenceOf(const Expr &expr, NodeId rounding, const IntegerSpan &span,
                                    const RoundingWay &way) {
  const NodeId argument = expr[rounding].args[0];
  const Number &x = way.numbers[argument];
  const auto most = static_cast<double>(std::max(std::abs(span.first), std::abs(span.last)) + 1);
  // Where a share is large, numbers beyond the span may be taken for some within.
  const double share = x.share < 0.5 ? x.share / (1 - x.share) : kInf;
  double distance = times(x.distance, 1 + share) + times(share, std::min(most, x.most() + 1));
  if (distance == 0)
    return 0;
  if (distance >= 1)
    distance = std::min(distance, chainDistance(expr, argument, span, way));
  const double steps = std::floor(distance) + 1;
  if (steps >= static_cast<double>(span.last - span.first))
    return std::nullopt;
  return static_cast<int64_t>(steps);
}

} // namespace sluice::rows
