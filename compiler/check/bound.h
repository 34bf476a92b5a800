// How far a result may be from the exact value, and whether it is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "compiler/check/evaluate.h"

namespace sluice::check {

/// The bound of an element is so many times as large as what rounding moves it: operations of the
/// model are several on the machine (a product over many elements is summed in parts, a softmax is
/// differences, exponentials, a sum and quotients), and each of them rounds.
inline constexpr double kTimesMoved = 3;

/// Elements that rounding alone moves by more of the output's range count as unchecked.
inline constexpr double kMostMoved = 0.1;

/// Returns the bounds of the elements of a tensor that rounding moves by `moved`: kTimesMoved times
/// that, and at least as many times the root of the mean square of the movements of all elements
/// that count as checked.
std::vector<double> boundsOf(std::span<const double> moved, std::span<const double> exact);

/// Returns what errors are shares of: the range of the finite elements, or their largest magnitude
/// where that is far larger. 0 where all are zero.
double scaleOf(std::span<const double> values);

/// An element that is beyond its bound.
struct Wrong {
  size_t element = 0;
  double found = 0, wanted = 0, bound = 0;
};

/// A result against what it may be.
struct Judgement {
  size_t elements = 0, unchecked = 0, beyond = 0;
  double largestError = 0;    ///< of the checked elements, as a share of the scale
  std::optional<Wrong> worst; ///< the element that is farthest beyond its bound
};

/// Compares a result with the exact value. Where all variants are NaN the result must be NaN, and
/// where all are the same infinity it must be that or NaN, for sums on the way may make it NaN.
/// Elements that the variants do not agree about being finite are unchecked. `noise` is what sums
/// of the inputs may be off by although no rounding to bf16 moves them: no smaller error is wrong.
Judgement judge(std::span<const double> found, const Spread &wanted, double noise = 0);

/// Returns the noise of inputs: 2^-24 of the largest, which fp32 rounds away.
double noiseOf(const reference::Tensors &inputs);

} // namespace sluice::check
