// Codes of indices. bf16 has whole numbers up to 256 only, but 32,512 positive normal numbers: the
// code of an index is one of them, in the order of the indices. So comparing, selecting and taking
// a minimum work on codes as on indices; arithmetic does not.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::format {

/// The bits of the code of index 0, which is 2^-119: the difference of two codes is normal too.
inline constexpr uint16_t kFirstCode = 0x0400;
/// The number of codes: the first bits without one are those of infinity.
inline constexpr int64_t kMostCodes = 0x7F80 - kFirstCode;

/// Returns the bits of the code of an index below kMostCodes.
constexpr uint16_t codeOf(int64_t index) { return static_cast<uint16_t>(index + kFirstCode); }

/// Returns the index of a code. Bits that are no code give an index of some code.
constexpr int64_t indexOf(uint16_t code) {
  return std::clamp<int64_t>(int64_t{code} - kFirstCode, 0, kMostCodes - 1);
}

} // namespace sluice::format
