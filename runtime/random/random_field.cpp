#include "runtime/random/random_field.h"

#include <cmath>

#include "runtime/random/philox.h"

namespace sluice::random {

static uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }
static uint32_t high(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

RandomKey keyOfInference(uint64_t seed, uint64_t stream, uint64_t inference) {
  constexpr uint32_t kOfNode = 1;
  const PhiloxCounter bits =
      philox({low(stream), high(stream), 0, kOfNode}, {low(seed), high(seed)});
  return {bits[0] | uint64_t{bits[1]} << 32, inference};
}

std::pair<double, double> RandomField::two(uint64_t element) const {
  const PhiloxCounter bits =
      philox({low(element), high(element), low(key.stream), high(key.stream)},
             {low(key.seed), high(key.seed)});
  const auto fraction = [](uint64_t first, uint64_t second) {
    return static_cast<double>((first << 32 | second) >> 11) * 0x1p-53;
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

} // namespace sluice::random
