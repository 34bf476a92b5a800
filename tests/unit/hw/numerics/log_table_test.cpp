// The table of the natural logarithm: every bf16 input against the exact value.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "hw/numerics/numerics.h"

#include "runtime/format/images.h"

namespace sluice::numerics {
namespace {

constexpr unsigned kFirst = isa::kTableLogBase, kEnd = kFirst + 16; ///< exponents of the window

long double valueOf(uint16_t bits) { return toFloat(static_cast<uint32_t>(bits) << 16); }

/// ln(x) rounded once, x positive and normal. Long double is exact enough to round
/// by: no logarithm of a bf16 other than ln(1) lies on a tie or near it.
uint16_t roundedLog(uint16_t x) {
  const long double value = std::log(valueOf(x));
  if (value == 0)
    return 0;
  int exponent = 0;
  const long double scaled = std::ldexp(std::frexp(std::fabs(value), &exponent), 8);
  EXPECT_GT(std::fabs(scaled - std::floor(scaled) - 0.5L), 1e-9L) << std::hex << x;
  const auto rounded = static_cast<int>(std::floor(scaled + 0.5L));
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) + (126 + exponent) * 128 + rounded - 128);
}

/// True if the entry of a mantissa outside the window gives every logarithm that
/// uses it.
bool fits(const format::TableImage &image, bool below, unsigned mantissa) {
  const Table table(image);
  for (unsigned exponent = below ? 1 : kEnd; exponent < (below ? kFirst : 255U); ++exponent) {
    const auto x = static_cast<uint16_t>(exponent << 7 | mantissa);
    if (table(uint32_t{x} << 16) >> 16 != roundedLog(x))
      return false;
  }
  return true;
}

/// Sets one entry; how far from the nearest fixed-point number it had to be taken.
int chooseEntry(format::TableImage &image, bool below, unsigned mantissa) {
  const long double m = 1 + mantissa / 128.0L;
  const auto nearest =
      static_cast<int>(std::lround(std::ldexp(std::log(below ? 2 / m : m), Table::kLogFraction)));
  uint16_t &entry = image.entries[2048U | (below ? 128U : 0U) | mantissa];
  for (const int off : {0, 1, -1, 2, -2}) {
    entry = static_cast<uint16_t>(nearest + off);
    if (nearest + off >= 0 && fits(image, below, mantissa))
      return off;
  }
  ADD_FAILURE() << "no entry for mantissa " << mantissa;
  return 0;
}

TEST(LogTable, EveryInputIsCorrectlyRounded) {
  Table::Header header;
  header.mode = Table::Mode::Log;
  header.base = isa::kTableLogBase;
  header.belowNeg = {false, kBf16NaN};
  header.zeroPos = header.zeroNeg = 0xFF80;
  header.infPos = 0x7F80;
  header.infNeg = kBf16NaN;
  format::TableImage image;
  image.header = Table::encodeHeader(header);
  image.entries.resize(isa::kTableEntries);
  for (unsigned exponent = kFirst; exponent < kEnd; ++exponent)
    for (unsigned mantissa = 0; mantissa < 128; ++mantissa)
      image.entries[(exponent - kFirst) << 7 | mantissa] =
          roundedLog(static_cast<uint16_t>(exponent << 7 | mantissa));
  unsigned moved = 0;
  for (const bool below : {false, true})
    for (unsigned mantissa = 0; mantissa < 128; ++mantissa)
      moved += chooseEntry(image, below, mantissa) != 0;
  EXPECT_LE(moved, 1U);

  const Table table(image);
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto x = static_cast<uint16_t>(bits);
    const unsigned exponent = (bits >> 7) & 255;
    uint16_t expected = 0;
    if (isNaN(bits << 16) || (bits >> 15 && exponent != 0))
      expected = kBf16NaN;
    else if (exponent == 0)
      expected = 0xFF80;
    else
      expected = exponent == 255 ? 0x7F80 : roundedLog(x);
    ASSERT_EQ(table(bits << 16) >> 16, expected) << std::hex << bits;
  }
}

} // namespace
} // namespace sluice::numerics
