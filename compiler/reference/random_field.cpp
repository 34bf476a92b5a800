#include "compiler/reference/random_field.h"

#include <cmath>

#include "compiler/reference/philox.h"

namespace sluice::reference {

std::pair<double, double> RandomField::two(uint64_t element) const {
  const auto low = [](uint64_t word) { return static_cast<uint32_t>(word); };
  const PhiloxCounter bits = philox({low(element), low(element >> 32), key.stream, 0},
                                    {low(key.seed), low(key.seed >> 32)});
  const auto fraction = [](uint64_t high, uint64_t low) {
    return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
  };
  return {fraction(bits[0], bits[1]), fraction(bits[2], bits[3])};
}

double RandomField::uniform(uint64_t element) const { return two(element).first; }

double RandomField::normal(uint64_t element) const {
  const auto [radius, angle] = two(element);
  return std::sqrt(-2 * std::log1p(-radius)) * std::cos(2 * M_PI * angle);
}

double RandomField::gumbel(uint64_t element) const {
  return -std::log(-std::log1p(-uniform(element)) + 0x1p-64);
}

double floorToBf16(double value) {
  if (value == 0)
    return 0;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent); // in [0.5, 1)
  return std::ldexp(std::floor(std::ldexp(fraction, 8)), exponent - 8);
}

} // namespace sluice::reference
