// Function tables: every bf16 input through tables of every shape, against the
// rules of docs/machine.md written with real exponents.
#include <gtest/gtest.h>

#include <cmath>

#include "hw/numerics/numerics.h"
#include "runtime/format/images.h"
#include "tests/unit/hw/numerics/random_tables.h"

namespace sluice::numerics {
namespace {

using testing::Operands;

/// x * 2^by on bf16, by doubles.
uint16_t scaled(uint16_t value, int by) {
  const double real =
      std::ldexp(static_cast<double>(toFloat(static_cast<uint32_t>(value) << 16)), by);
  const uint16_t sign = value & 0x8000;
  if (std::fabs(real) >= std::ldexp(1.0, 128))
    return sign | 0x7F80;
  if (std::fabs(real) < std::ldexp(1.0, -126))
    return sign;
  return static_cast<uint16_t>(toBits(static_cast<float>(real)) >> 16);
}

/// A number of 2^-16 to bf16, half a unit up.
uint16_t halfUp(long double value) {
  int exponent = 0;
  const long double significand = std::frexp(value / 65536, &exponent);
  const auto rounded = static_cast<int>(std::floor(std::ldexp(significand, 8) + 0.5L));
  return static_cast<uint16_t>((126 + exponent) * 128 + rounded - 128); // 256: next exponent
}

uint16_t expectedOf(const Table::Header &header, const std::vector<uint16_t> &entries, uint16_t x) {
  const bool negative = x & 0x8000;
  const int exponent = (x & 0x7FFF) / 128, mantissa = x % 128;
  if (exponent == 255)
    return mantissa ? header.nan : negative ? header.infNeg : header.infPos;
  if (exponent == 0)
    return negative ? header.zeroNeg : header.zeroPos;
  if (header.mode == Table::Mode::Scaled) {
    const int octaves = static_cast<int>(std::floor((exponent - 127) / 2.0));
    const int odd = exponent - 127 - 2 * octaves;
    const uint16_t entry = entries[(negative ? 2048 : 0) + odd * 128 + mantissa];
    const int entryExponent = (entry & 0x7FFF) / 128;
    return entryExponent == 0 || entryExponent == 255 ? entry : scaled(entry, header.k * octaves);
  }
  const int i = exponent - header.base;
  if (header.mode == Table::Mode::Log) {
    if (negative)
      return header.belowNeg.scales ? scaled(x, static_cast<int8_t>(header.belowNeg.value))
                                    : header.belowNeg.value;
    // Both sides of 1 add to whole octaves, which count from the window's end.
    const int octaves = i < 0 ? 126 - exponent : exponent - 127;
    if (i < 0 || i > 15)
      return halfUp(std::round(octaves * std::log(2.0L) * 65536) +
                    entries[2048 + (i < 0 ? 128 : 0) + mantissa]) |
             (i < 0 ? 0x8000 : 0);
  }
  if (i >= 0 && i <= 15)
    return entries[(negative ? 2048 : 0) + i * 128 + mantissa];
  const Table::Rule &rule = i < 0 ? (negative ? header.belowNeg : header.belowPos)
                                  : (negative ? header.aboveNeg : header.abovePos);
  return rule.scales ? scaled(x, static_cast<int8_t>(rule.value)) : rule.value;
}

TEST(TableNumerics, EveryInputOfRandomTables) {
  Operands operands(21);
  for (int trial = 0; trial < 60; ++trial) {
    const Table::Header header =
        testing::randomHeader(operands, static_cast<Table::Mode>(trial % 3));
    const format::TableImage image = testing::randomTable(operands, header);
    ASSERT_EQ(Table::decodeHeader(image.header), header);
    const Table table(image);
    for (uint32_t value = 0; value < 65536; ++value) {
      const auto x = static_cast<uint16_t>(value);
      ASSERT_EQ(table(value << 16) >> 16, expectedOf(header, image.entries, x))
          << std::hex << value << " trial " << std::dec << trial;
    }
  }
}

TEST(TableNumerics, RoundsTheArgumentFirst) {
  format::TableImage image;
  Table::Header header;
  header.base = 120;
  image.header = Table::encodeHeader(header);
  for (unsigned i = 0; i < isa::kTableEntries; ++i)
    image.entries.push_back(static_cast<uint16_t>(i));
  const Table table(image);
  EXPECT_EQ(table(0x3F808000) >> 16, 7U << 7);      // tie to even: 1.0
  EXPECT_EQ(table(0x3F818000) >> 16, 7U << 7 | 2U); // tie to even: up
  EXPECT_EQ(table(0x3FFFFFFF) >> 16, 8U << 7);      // carries into the exponent
  EXPECT_EQ(table(0xBF808001) >> 16, 2048U | 7U << 7 | 1U);
}

TEST(TableNumerics, HeaderLayout) {
  Table::Header header;
  header.mode = Table::Mode::Scaled;
  header.base = 0xAB;
  header.k = -2;
  header.belowPos = {true, 0x0011};
  header.aboveNeg = {true, 0x0044};
  header.belowNeg = {false, 0x2222};
  header.abovePos = {false, 0x3333};
  header.zeroPos = 1;
  header.zeroNeg = 2;
  header.nan = 3;
  header.infPos = 4;
  header.infNeg = 5;
  const std::array<uint64_t, 4> words = {0x000000000006AB01, 0x0044333322220011, 0x0003000200010041,
                                         0x0000000000050004};
  EXPECT_EQ(Table::encodeHeader(header), words);
  EXPECT_EQ(Table::decodeHeader(words), header);
}

} // namespace
} // namespace sluice::numerics
