#include "tests/support/random_values.h"

#include "hw/isa/isa.h"

namespace sluice::fixtures {

namespace {

uint16_t withExponent(Rng &rng, uint32_t exponent) {
  return static_cast<uint16_t>((rng.next() & 0x807F) | exponent << 7);
}

uint16_t ordinary(Rng &rng) {
  return withExponent(rng, static_cast<uint32_t>(rng.range(119, 133)));
}

uint16_t anyFinite(Rng &rng) { return withExponent(rng, static_cast<uint32_t>(rng.range(0, 254))); }

uint16_t corner(Rng &rng) {
  switch (rng.range(0, 5)) {
  case 0:
    return rng.pick<uint16_t>({0x0000, 0x8000});
  case 1:
    return withExponent(rng, 0); // denormal
  case 2:
    return withExponent(rng, static_cast<uint32_t>(rng.range(1, 2)));
  case 3:
    return withExponent(rng, static_cast<uint32_t>(rng.range(252, 254)));
  case 4:
    return rng.pick<uint16_t>({0x3F80, 0xBF80, 0x7F7F, 0xFF7F, 0x0080, 0x8080});
  default:
    return rng.pick<uint16_t>({0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F81, 0xFFFF});
  }
}

} // namespace

std::vector<uint16_t> randomRow(Rng &rng, uint32_t lanes) {
  std::vector<uint16_t> row(lanes);
  const int64_t kind = rng.range(0, 9);
  for (uint16_t &lane : row)
    lane = kind == 0 && rng.percent(25) ? corner(rng) : kind <= 2 ? anyFinite(rng) : ordinary(rng);
  return row;
}

std::vector<uint16_t> randomWeights(Rng &rng, uint32_t lanes) {
  std::vector<uint16_t> block(size_t{lanes} * lanes);
  const int64_t kind = rng.range(0, 3);
  for (uint16_t &weight : block)
    weight = kind == 0 ? anyFinite(rng) : kind == 1 && rng.percent(60) ? 0 : ordinary(rng);
  return block;
}

std::vector<uint64_t> randomPreload(Rng &rng, uint32_t lanes) {
  std::vector<uint64_t> row(lanes);
  const bool wild = rng.percent(20);
  for (uint64_t &lane : row) {
    const auto shift = static_cast<unsigned>(rng.range(wild ? 20 : 28, 63));
    const uint64_t m = static_cast<uint64_t>(static_cast<int64_t>(rng.next()) >> shift);
    const auto q = static_cast<uint64_t>(wild ? rng.range(0, 63) : rng.range(28, 34));
    const uint64_t poison = wild && rng.percent(10);
    lane = (m & ((uint64_t{1} << isa::kAccBits) - 1)) | q << isa::kAccBits |
           poison << (isa::kAccBits + isa::kAnchorBits);
  }
  return row;
}

format::TableImage randomTable(Rng &rng, uint32_t table) {
  format::TableImage image;
  image.table = table;
  const auto value = [&] {
    return static_cast<uint64_t>(rng.percent(30) ? corner(rng) : ordinary(rng));
  };
  uint64_t kinds = 0, rules = 0;
  for (unsigned rule = 0; rule < 4; ++rule) {
    const bool scales = rng.percent(50);
    kinds |= uint64_t{scales} << (2 * rule);
    // A scaling rule has its exponent in the low byte.
    rules |= (scales ? static_cast<uint64_t>(rng.range(-3, 3)) & 0xFF : value()) << (16 * rule);
  }
  const auto mode = static_cast<uint64_t>(rng.range(0, 2));
  const auto base = mode == 2 ? uint64_t{119} : static_cast<uint64_t>(rng.range(112, 130));
  image.header = {mode | base << 8 | (rng.next() & 7) << 16, rules,
                  kinds | value() << 16 | value() << 32 | value() << 48, value() | value() << 16};
  image.entries.resize(isa::kTableEntries);
  for (uint16_t &entry : image.entries)
    entry = rng.percent(1) ? corner(rng) : ordinary(rng);
  return image;
}

uint32_t randomImmediate(Rng &rng) {
  const int64_t kind = rng.range(0, 9);
  if (kind == 0)
    return rng.pick<uint32_t>({0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x7F800000,
                               0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0x00800000, 0x3F800000});
  const auto exponent = static_cast<uint32_t>(kind == 1 ? rng.range(1, 254) : rng.range(120, 132));
  return (static_cast<uint32_t>(rng.next()) & 0x807FFFFF) | exponent << 23;
}

} // namespace sluice::fixtures
