// Conversions between the number types of the host and bf16: round to nearest,
// ties to even, once; signed zeros and infinities stay, NaN stays NaN.
#pragma once

#include <cstdint>

namespace sluice::runtime {

uint16_t bf16FromFloat(float value);
uint16_t bf16FromDouble(double value);
float floatFromBf16(uint16_t bits);

uint16_t halfFromFloat(float value);
float floatFromHalf(uint16_t bits);

} // namespace sluice::runtime
