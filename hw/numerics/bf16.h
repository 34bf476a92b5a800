// The range of bf16.
#pragma once

namespace sluice::numerics {

/// The largest finite number.
inline constexpr float kLargestBf16 = 0x1.FEp127F;
/// The lowest finite number: no number is below it.
inline constexpr float kLowestBf16 = -kLargestBf16;

} // namespace sluice::numerics
