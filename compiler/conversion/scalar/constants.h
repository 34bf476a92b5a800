// Constants of a model in the machine's number formats.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice::rows {

/// The value, or the largest bf16 of its sign where fp32 holds the value and bf16 would round it to
/// infinity. So a mask of the lowest fp32 value stays a number.
inline double withinBf16(double value) {
  constexpr double largest = 0x1.FEp127, largestFp32 = std::numeric_limits<float>::max();
  return std::fabs(value) <= largestFp32 ? std::clamp(value, -largest, largest) : value;
}

} // namespace sluice::rows
