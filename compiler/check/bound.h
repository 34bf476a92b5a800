// The allowed distance of a result from the exact value, and the comparison with it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

#include "compiler/check/evaluate.h"

namespace sluice::check {

/// The bound of an element, as a multiple of the distance by which rounding moves it. The machine
/// rounds more often than the model: it sums a long product in parts, and computes a softmax with
/// differences, exponentials, a sum and quotients.
inline constexpr double kTimesMoved = 3;

/// The largest movement by rounding alone with which an element is checked, as a share of the range
/// of its output.
inline constexpr double kMostMoved = 0.1;

/// Returns the bound of each element of a tensor. It is kTimesMoved times the larger of two
/// distances: the movement of the element, in `moved`, and the root mean square of the movements of
/// all checked elements.
std::vector<double> boundsOf(std::span<const double> moved, std::span<const double> exact);

/// Returns the error that the check allows each element: the largest of its bound, `noise` and the
/// distance to the neighbouring bf16 number. Infinite for an unchecked element.
std::vector<double> allowedErrors(std::span<const double> moved, std::span<const double> exact,
                                  double noise);

/// Returns the scale of a tensor, by which errors are divided: the range of the finite elements, or
/// their largest magnitude if that is far larger. Returns 0 if all elements are 0.
double scaleOf(std::span<const double> values);

/// An element whose error is larger than its bound.
struct Wrong {
  size_t element = 0;
  double found = 0, wanted = 0, bound = 0;
};

/// The comparison of a result with its bounds.
struct Judgement {
  size_t elements = 0, unchecked = 0, beyond = 0;
  double largestError = 0;    ///< of the checked elements, as a share of the scale
  std::optional<Wrong> worst; ///< the element with the largest excess over its bound
};

/// An element that counts as checked, its error (infinite where only one is a number), and the
/// largest that is allowed.
struct CheckedElement {
  size_t element = 0;
  double found = 0, wanted = 0, error = 0, bound = 0;

  [[nodiscard]] bool isBeyond() const;
  /// The error as a share of the bound.
  [[nodiscard]] double shareOfBound() const;
};

/// Calls `visit` for the elements that count as checked, as judge() says; `moved` is how far
/// rounding moves each.
void forChecked(std::span<const double> found, std::span<const double> exact,
                std::span<const double> moved, double noise,
                llvm::function_ref<void(const CheckedElement &)> visit);

/// Compares a result with the exact value.
///  - If all variants of an element are NaN, the result must be NaN.
///  - If all are the same infinity, the result must be that infinity or NaN, because an
///    intermediate sum may be NaN.
///  - If only some variants are finite, the element is unchecked.
/// `noise` is the largest error that sums in fp32 may have without any rounding to bf16; a smaller
/// error is never wrong. Nor is the neighbouring bf16 number, which a function table may give where
/// nothing else is rounded.
Judgement judge(std::span<const double> found, const Spread &wanted, double noise = 0);

/// Returns the noise for given inputs: 2^-24 of the largest magnitude, which fp32 rounds away.
double noiseOf(const reference::Tensors &inputs);

} // namespace sluice::check
