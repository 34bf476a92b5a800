// Operands that find mistakes: corner patterns and random ones of several
// shapes, from a seeded generator.
#pragma once

#include <array>
#include <cstdint>
#include <random>

namespace sluice::numerics::testing {

class Operands {
public:
  explicit Operands(uint64_t seed) : engine(seed) {}

  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(engine() % bound); }

  /// A bf16; exponents up to 254 if `finite`, else any pattern.
  uint16_t bf16(bool finite) {
    static constexpr std::array<uint16_t, 12> corners = {0x0000, 0x8000, 0x0001, 0x807F,
                                                         0x0080, 0x80FF, 0x3F80, 0xBF80,
                                                         0x7F7F, 0xFF7F, 0x7F00, 0x3F7F};
    const uint32_t kind = below(8);
    if (kind == 0)
      return corners[below(corners.size())];
    if (kind == 1) {
      const auto any = static_cast<uint16_t>(engine());
      return finite && (any & 0x7F80) == 0x7F80 ? any & 0x80FF : any;
    }
    // Exponents close together, so that the sums cancel and round.
    const uint32_t exponent = 127 - spread / 2 + below(spread);
    return static_cast<uint16_t>(below(2) << 15 | exponent << 7 | below(128));
  }

  uint32_t fp32() {
    static constexpr std::array<uint32_t, 18> corners = {
        0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x00800001, 0x3F800000,
        0x3F800001, 0x3F7FFFFF, 0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x7F800000,
        0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x3FFFFFFF, 0x1F800000, 0x20000000};
    switch (below(4)) {
    case 0:
      return corners[below(corners.size())] | below(2) << 31;
    case 1:
      return static_cast<uint32_t>(engine());
    default:
      return below(2) << 31 | (127 - spread / 2 + below(spread)) << 23 |
             (below(2) ? below(1 << 23) : below(8) << 20);
    }
  }

  /// Number of neighbouring exponents the random operands are drawn from.
  uint32_t spread = 12;
  std::mt19937_64 engine;
};

} // namespace sluice::numerics::testing
