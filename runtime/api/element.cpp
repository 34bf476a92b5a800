#include "runtime/api/element.h"

#include <bit>
#include <cmath>

namespace sluice::runtime {

uint16_t bf16FromFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40); // quiet, so that it cannot become infinity
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

uint16_t bf16FromDouble(double value) {
  auto narrow = static_cast<float>(value);
  if (std::isfinite(narrow) && static_cast<double>(narrow) != value) {
    // Round to odd first: the second rounding then sees that there was more.
    auto bits = std::bit_cast<uint32_t>(narrow);
    if (std::abs(static_cast<double>(narrow)) > std::abs(value))
      --bits;
    narrow = std::bit_cast<float>(bits | 1);
  }
  return bf16FromFloat(narrow);
}

float floatFromBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

uint16_t halfFromFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return static_cast<uint16_t>(sign | 0x7E00 | (magnitude >> 13 & 0x3FF));
  if (magnitude >= 0x47800000) // 65536 and more
    return static_cast<uint16_t>(sign | 0x7C00);
  if (magnitude < 0x38800000) { // below the smallest normal number: units of 2^-24
    const float units = std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24F);
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(units));
  }
  const uint32_t rebased = magnitude - (112U << 23);
  return static_cast<uint16_t>(sign | (rebased + 0xFFF + (rebased >> 13 & 1)) >> 13);
}

float floatFromHalf(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t exponent = bits >> 10 & 31;
  const uint32_t mantissa = bits & 0x3FF;
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  const uint32_t biased = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | biased << 23 | mantissa << 13);
}

} // namespace sluice::runtime
