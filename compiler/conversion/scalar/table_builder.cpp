#include "compiler/conversion/scalar/table_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "hw/numerics/numerics.h"

namespace sluice::rows {

using numerics::Table;

namespace {

constexpr unsigned kInputs = 65536;
constexpr unsigned kMantissas = 128;
constexpr unsigned kLastExponent = 254;
constexpr unsigned kWindow = 16;
constexpr unsigned kNegative = 0x8000;

constexpr uint16_t encode(bool negative, unsigned exponent, unsigned mantissa) {
  return static_cast<uint16_t>((negative ? kNegative : 0) | exponent << 7 | mantissa);
}

/// Position of a bf16 in the order of values; both zeros are 0.
int ordinal(uint16_t bits) {
  const int magnitude = bits & 0x7FFF;
  const int position = magnitude < 0x80 ? 0 : magnitude - 0x7F;
  return bits & kNegative ? -position : position;
}

/// The function at every bf16 input.
class Samples {
public:
  explicit Samples(const ScalarFunction &function) : values(kInputs), rounded(kInputs) {
    const auto at = [&](unsigned bits) {
      const double value = function(bf16ToDouble(static_cast<uint16_t>(bits)));
      const uint16_t nearest = roundToBf16(value);
      rounded[bits] = bf16ToDouble(nearest) != value;
      return nearest;
    };
    zeroPos = at(0);
    zeroNeg = at(kNegative);
    nan = at(numerics::kBf16NaN);
    for (unsigned bits = 0; bits < kInputs; ++bits) {
      const unsigned exponent = (bits >> 7) & 255;
      if (exponent == 0)
        values[bits] = bits & kNegative ? zeroNeg : zeroPos;
      else if (exponent == 255 && (bits & 127))
        values[bits] = nan;
      else
        values[bits] = at(bits);
    }
  }
  uint16_t operator[](uint16_t bits) const { return values[bits]; }
  uint16_t operator()(bool negative, unsigned exponent, unsigned mantissa) const {
    return values[encode(negative, exponent, mantissa)];
  }

  /// Whether `found` may stand for the value at `bits`. A neighbour may only where the exact value
  /// is no bf16 number: a model may subtract an exact value again, and then nothing else is left.
  [[nodiscard]] bool accepts(uint16_t bits, uint16_t found, unsigned maxUlps) const {
    const uint16_t wanted = values[bits];
    if (found == wanted)
      return true;
    const bool nan = (found & 0x7FFF) > 0x7F80 || (wanted & 0x7FFF) > 0x7F80;
    return maxUlps > 0 && !nan && rounded[bits] &&
           std::abs(ordinal(found) - ordinal(wanted)) <= static_cast<int>(maxUlps);
  }

  uint16_t zeroPos, zeroNeg, nan;

private:
  std::vector<uint16_t> values;
  std::vector<bool> rounded; ///< the exact value is no bf16 number
};

uint16_t scaled(uint16_t bits, int by) {
  const int exponent = ((bits >> 7) & 255) + by;
  const uint16_t sign = bits & kNegative;
  if (exponent <= 0)
    return sign;
  if (exponent >= 255)
    return sign | 0x7F80;
  return static_cast<uint16_t>(sign | exponent << 7 | (bits & 127));
}

/// A rule for one end of one sign, and the number of exponents, counted from
/// that end, for which it gives the function.
struct Reach {
  Table::Rule rule;
  unsigned exponents = 0;
};

Reach longestRule(const Samples &samples, bool negative, bool fromBelow, unsigned maxUlps) {
  const auto exponentAt = [&](unsigned i) { return fromBelow ? 1 + i : kLastExponent - i; };
  // If the value does not reach further than `least` exponents, the result is some number up to it.
  const auto reachOf = [&](auto &&value, unsigned least) {
    const auto holds = [&](unsigned i, unsigned m) {
      const uint16_t x = encode(negative, exponentAt(i), m);
      return samples.accepts(x, value(x), maxUlps);
    };
    unsigned count = 0;
    if (!holds(least, 0))
      return count;
    for (; count < kLastExponent; ++count)
      for (unsigned m = 0; m < kMantissas; ++m)
        if (!holds(count, m))
          return count;
    return count;
  };
  const uint16_t first = samples(negative, exponentAt(0), 0);
  Reach best{{false, first}, reachOf([&](uint16_t) { return first; }, 0)};
  for (int by = -128; by < 128 && best.exponents < kLastExponent; ++by) {
    const unsigned exponents = reachOf([&](uint16_t x) { return scaled(x, by); }, best.exponents);
    if (exponents > best.exponents)
      best = {{true, static_cast<uint16_t>(by & 255)}, exponents};
  }
  return best;
}

Table::Header specialCases(const Samples &samples) {
  Table::Header header;
  header.zeroPos = samples.zeroPos;
  header.zeroNeg = samples.zeroNeg;
  header.nan = samples.nan;
  header.infPos = samples(false, 255, 0);
  header.infNeg = samples(true, 255, 0);
  return header;
}

bool agrees(const format::TableImage &image, const Samples &samples, unsigned maxUlps) {
  const Table table(image);
  for (unsigned bits = 0; bits < kInputs; ++bits)
    if (!samples.accepts(static_cast<uint16_t>(bits),
                         static_cast<uint16_t>(table(bits << 16) >> 16), maxUlps))
      return false;
  return true;
}

std::optional<format::TableImage> direct(const Samples &samples, unsigned belowUlps,
                                         unsigned aboveUlps) {
  Table::Header header = specialCases(samples);
  unsigned low = kLastExponent, high = kLastExponent;
  for (const bool negative : {false, true}) {
    const Reach below = longestRule(samples, negative, true, belowUlps);
    const Reach above = longestRule(samples, negative, false, aboveUlps);
    (negative ? header.belowNeg : header.belowPos) = below.rule;
    (negative ? header.aboveNeg : header.abovePos) = above.rule;
    low = std::min(low, below.exponents);
    high = std::min(high, above.exponents);
  }
  // Exponents 1..low follow the rules below, the last `high` those above.
  const unsigned firstAbove = kLastExponent + 1 - high;
  const unsigned base = std::max(1U, firstAbove > kWindow ? firstAbove - kWindow : 1U);
  if (base > low + 1)
    return std::nullopt;
  header.base = static_cast<uint8_t>(base);
  format::TableImage image;
  image.header = Table::encodeHeader(header);
  image.entries.assign(isa::kTableEntries, 0);
  for (const bool negative : {false, true})
    for (unsigned i = 0; i < kWindow && base + i <= kLastExponent; ++i)
      for (unsigned m = 0; m < kMantissas; ++m)
        image.entries[(negative ? 2048U : 0U) | i << 7 | m] = samples(negative, base + i, m);
  if (!agrees(image, samples, std::max(belowUlps, aboveUlps)))
    return std::nullopt;
  return image;
}

std::optional<format::TableImage> repeating(const Samples &samples) {
  Table::Header header = specialCases(samples);
  header.mode = Table::Mode::Scaled;
  format::TableImage image;
  image.entries.assign(isa::kTableEntries, 0);
  for (const bool negative : {false, true})
    for (unsigned odd = 0; odd < 2; ++odd)
      for (unsigned m = 0; m < kMantissas; ++m)
        image.entries[(negative ? 2048U : 0U) | odd << 7 | m] = samples(negative, 127 + odd, m);
  for (int k = -4; k <= 3; ++k) {
    header.k = static_cast<int8_t>(k);
    image.header = Table::encodeHeader(header);
    if (agrees(image, samples, 0))
      return image;
  }
  return std::nullopt;
}

/// The 16-bit entry that gives the function at every exponent in [first, end) of
/// one mantissa, near `guess`.
bool chooseLogEntry(format::TableImage &image, uint16_t &entry, const Samples &samples,
                    unsigned first, unsigned end, unsigned mantissa, double guess) {
  const auto fits = [&] {
    const Table table(image);
    for (unsigned exponent = first; exponent < end; ++exponent) {
      const uint16_t x = encode(false, exponent, mantissa);
      if (table(uint32_t{x} << 16) >> 16 != samples[x])
        return false;
    }
    return true;
  };
  for (const int off : {0, 1, -1, 2, -2}) {
    const double value = std::nearbyint(guess) + off;
    if (!(value >= 0 && value < 65536))
      continue;
    entry = static_cast<uint16_t>(value);
    if (fits())
      return true;
  }
  return false;
}

/// Natural logarithms: fixed point outside the window, to which the octaves are
/// added. The mode has no other rule for positive x and one for all negative x.
std::optional<format::TableImage> logarithmic(const ScalarFunction &function,
                                              const Samples &samples) {
  constexpr unsigned low = isa::kTableLogBase, high = low + kWindow;
  Table::Header header = specialCases(samples);
  header.mode = Table::Mode::Log;
  header.base = low;
  header.belowNeg = {false, samples(true, 127, 0)};
  format::TableImage image;
  image.header = Table::encodeHeader(header);
  image.entries.assign(isa::kTableEntries, 0);
  for (unsigned exponent = low; exponent < high; ++exponent)
    for (unsigned m = 0; m < kMantissas; ++m)
      image.entries[(exponent - low) << 7 | m] = samples(false, exponent, m);
  for (const bool below : {false, true})
    for (unsigned m = 0; m < kMantissas; ++m) {
      // The octave next to the window tells the entry, but for its last bit.
      const int octave = below ? -9 : 8;
      const double x = std::ldexp(1 + m / double{kMantissas}, octave);
      const double rest = below ? -function(x) - (-octave - 1) * std::numbers::ln2
                                : function(x) - octave * std::numbers::ln2;
      if (!chooseLogEntry(image, image.entries[2048U | (below ? 128U : 0U) | m], samples,
                          below ? 1 : high, below ? low : kLastExponent + 1, m,
                          std::ldexp(rest, Table::kLogFraction)))
        return std::nullopt;
    }
  if (!agrees(image, samples, 0))
    return std::nullopt;
  return image;
}

} // namespace

std::optional<format::TableImage> buildTable(const ScalarFunction &function, unsigned maxUlps) {
  const Samples samples(function);
  if (auto image = direct(samples, 0, 0))
    return image;
  if (auto image = repeating(samples))
    return image;
  if (auto image = logarithmic(function, samples))
    return image;
  if (maxUlps == 0)
    return std::nullopt;
  for (const auto [below, above] : {std::pair(maxUlps, 0U), {0U, maxUlps}, {maxUlps, maxUlps}})
    if (auto image = direct(samples, below, above))
      return image;
  return std::nullopt;
}

} // namespace sluice::rows
