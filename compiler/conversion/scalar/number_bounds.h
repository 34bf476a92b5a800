// What is known of the numbers of a map: their range, and how far those of a program may be from
// real ones.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "compiler/conversion/scalar/expr.h"

namespace sluice::rows {

/// A real number r and the number p of the program that stands for it: |p - r| <= distance + share
/// * |r|. By default nothing is known.
struct Number {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double distance = std::numeric_limits<double>::infinity();
  double share = 0;
  bool isInteger = false;

  /// A number that the program has exactly.
  static Number exact(double low, double high, bool isInteger);
  [[nodiscard]] bool isExact() const { return distance == 0 && share == 0; }
  /// Whether it is an integer that rows have exactly, since bf16 has it.
  [[nodiscard]] bool isExactInteger() const;
  /// The largest magnitude.
  [[nodiscard]] double most() const;
};

/// Either of two numbers.
Number either(const Number &a, const Number &b);

/// The number in a row, rounded to bf16.
Number stored(Number number);

/// The result of every node, by its index; `inputs` are those of the inputs. Every node may be
/// stored, and integers are rounded without error: their distance is that of differenceOf.
std::vector<Number> numbersOf(const Expr &expr, const std::vector<Number> &inputs);

/// Where integers are limited behind a node that rounds: from `first` to `last`, a function of them
/// changes.
struct IntegerSpan {
  int64_t first, last;
};

/// Nothing if nothing limits the integers to 16 bits.
std::optional<IntegerSpan> spanOf(const Expr &expr, NodeId rounding);

/// How a map's steps compute the numbers that a node rounds to integers.
struct RoundingWay {
  const std::vector<Number> &inputs;  ///< the operands of the map
  const std::vector<Number> &numbers; ///< of the nodes, from numbersOf
  /// The numbers go from sums of the matrix unit through one table: they are rounded to bf16 once.
  bool isOneTable = false;
};

/// Returns the most steps between the integer that a node rounds to and the integer nearest to the
/// real number, of those within the span. Nothing: it may be any integer of the span.
std::optional<int64_t> differenceOf(const Expr &expr, NodeId rounding, const IntegerSpan &span,
                                    const RoundingWay &way);

} // namespace sluice::rows
