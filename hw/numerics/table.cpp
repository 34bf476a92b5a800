#include <algorithm>
#include <bit>
#include <cassert>

#include "hw/numerics/numerics.h"

#include "runtime/format/images.h"

namespace sluice::numerics {

namespace {

uint16_t half(uint64_t word, unsigned index) { return static_cast<uint16_t>(word >> (16 * index)); }

/// value * 2^by with the table's over- and underflow rule.
uint16_t scale(uint16_t value, int by) {
  const int exponent = ((value >> 7) & 255) + by;
  const uint16_t sign = value & 0x8000;
  if (exponent <= 0)
    return sign;
  if (exponent >= 255)
    return sign | 0x7F80;
  return sign | static_cast<uint16_t>(exponent << 7) | (value & 0x7F);
}

uint16_t apply(const Table::Rule &rule, uint16_t value) {
  return rule.scales ? scale(value, static_cast<int8_t>(rule.value & 255)) : rule.value;
}

/// n * ln 2 with kLogFraction bits.
uint32_t octaves(unsigned n) {
  constexpr uint64_t ln2 = 48775896626292; // * 2^-46
  return static_cast<uint32_t>((n * ln2 + (uint64_t{1} << 29)) >> 30);
}

/// A positive fixed-point value to bf16, half a unit rounds up. 4 <= sum * 2^-16 < 128.
uint16_t roundFixed(uint32_t sum) {
  assert(sum >> Table::kLogFraction >= 4 && "fewer bits than a mantissa has");
  const int top = std::bit_width(sum) - 1;
  const uint32_t rounded = sum + (1U << (top - 8)); // may reach the next octave
  const int end = std::bit_width(rounded) - 1;
  const auto exponent = static_cast<unsigned>(127 + end) - Table::kLogFraction;
  return static_cast<uint16_t>(exponent << 7 | ((rounded >> (end - 7)) & 0x7F));
}

} // namespace

Table::Table(const format::TableImage &image) : head(decodeHeader(image.header)) {
  std::copy_n(image.entries.begin(), std::min(image.entries.size(), entries.size()),
              entries.begin());
}

Table::Header Table::decodeHeader(const std::array<uint64_t, 4> &words) {
  const auto rule = [&](unsigned index) {
    return Rule{((words[2] >> (2 * index)) & 3) == 1, half(words[1], index)};
  };
  Header header;
  header.mode = (words[0] & 3) == 3 ? Mode::Direct : static_cast<Mode>(words[0] & 3);
  header.base = static_cast<uint8_t>(words[0] >> 8);
  header.k = static_cast<int8_t>(static_cast<int8_t>(((words[0] >> 16) & 7) << 5) >> 5);
  header.belowPos = rule(0);
  header.belowNeg = rule(1);
  header.abovePos = rule(2);
  header.aboveNeg = rule(3);
  header.zeroPos = half(words[2], 1);
  header.zeroNeg = half(words[2], 2);
  header.nan = half(words[2], 3);
  header.infPos = half(words[3], 0);
  header.infNeg = half(words[3], 1);
  return header;
}

std::array<uint64_t, 4> Table::encodeHeader(const Header &header) {
  std::array<uint64_t, 4> words{};
  words[0] = static_cast<uint64_t>(header.mode) | static_cast<uint64_t>(header.base) << 8 |
             static_cast<uint64_t>(header.k & 7) << 16;
  const Rule rules[4] = {header.belowPos, header.belowNeg, header.abovePos, header.aboveNeg};
  for (unsigned i = 0; i < 4; ++i) {
    words[1] |= static_cast<uint64_t>(rules[i].value) << (16 * i);
    words[2] |= static_cast<uint64_t>(rules[i].scales) << (2 * i);
  }
  words[2] |= static_cast<uint64_t>(header.zeroPos) << 16 |
              static_cast<uint64_t>(header.zeroNeg) << 32 | static_cast<uint64_t>(header.nan) << 48;
  words[3] = header.infPos | static_cast<uint64_t>(header.infNeg) << 16;
  return words;
}

uint16_t Table::lookup(uint16_t value) const {
  const bool negative = value >> 15;
  const unsigned exponent = (value >> 7) & 255, mantissa = value & 0x7F;
  const unsigned signIndex = negative ? 2048 : 0;
  if (exponent == 255)
    return mantissa ? head.nan : negative ? head.infNeg : head.infPos;
  if (exponent == 0)
    return negative ? head.zeroNeg : head.zeroPos;
  if (head.mode == Mode::Scaled) {
    const int distance = static_cast<int>(exponent) - 127;
    const uint16_t entry = entries[signIndex | (distance & 1) << 7 | mantissa];
    const unsigned entryExponent = (entry >> 7) & 255;
    if (entryExponent == 0 || entryExponent == 255)
      return entry;
    return scale(entry, head.k * (distance >> 1));
  }
  const int index = static_cast<int>(exponent) - head.base;
  if (head.mode == Mode::Log) {
    if (negative)
      return apply(head.belowNeg, value);
    if (index < 0)
      return 0x8000 | roundFixed(octaves(126 - exponent) + entries[2048 | 1 << 7 | mantissa]);
    if (index > 15)
      return roundFixed(octaves(exponent - 127) + entries[2048 | mantissa]);
  }
  if (index < 0)
    return apply(negative ? head.belowNeg : head.belowPos, value);
  if (index > 15)
    return apply(negative ? head.aboveNeg : head.abovePos, value);
  return entries[signIndex | static_cast<unsigned>(index) << 7 | mantissa];
}

uint32_t Table::operator()(uint32_t value) const {
  return static_cast<uint32_t>(lookup(roundToBf16(value))) << 16;
}

void Table::row(std::span<const uint32_t> in, std::span<uint32_t> out) const {
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = (*this)(in[i]);
}

} // namespace sluice::numerics
