// Constants of a model in the machine's number formats.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "hw/numerics/bf16.h"

namespace sluice::rows {

/// The value, or the largest bf16 of its sign where fp32 holds the value and bf16 would round it to
/// infinity. So a mask of the lowest fp32 value stays a number.
inline double withinBf16(double value) {
  constexpr double largest = numerics::kLargestBf16;
  constexpr double largestFp32 = std::numeric_limits<float>::max();
  return std::fabs(value) <= largestFp32 ? std::clamp(value, -largest, largest) : value;
}

} // namespace sluice::rows
