#include "runtime/api/drawn_array.h"

#include <bit>
#include <cmath>
#include <limits>

#include "runtime/api/element.h"

namespace sluice::runtime {
namespace {

/// Rounds to odd: rounding the result to fewer bits gives the same as rounding the number.
float oddFloat(double number) {
  const auto nearest = static_cast<float>(number);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (static_cast<double>(nearest) == number || !std::isfinite(nearest) ||
      (std::bit_cast<uint32_t>(nearest) & 1U) != 0)
    return nearest;
  return std::nextafter(nearest, number > nearest ? kInfinity : -kInfinity);
}

float rounded(double number, format::HostType type) {
  switch (type) {
  case format::HostType::Float16:
    return floatFromHalf(halfFromFloat(oddFloat(number)));
  case format::HostType::BFloat16:
    return floatFromBf16(bf16FromDouble(number));
  default:
    return static_cast<float>(number);
  }
}

} // namespace

std::vector<float> drawnArray(const random::RandomNumbers &numbers, format::HostType type,
                              uint64_t elements, const DrawnInference &of) {
  const random::RandomField field(random::keyOfInference(of.seed, numbers.stream, of.inference));
  std::vector<float> drawn(elements);
  for (uint64_t i = 0; i < elements; ++i)
    drawn[i] = rounded(random::elementOf(field, numbers, i), type);
  return drawn;
}

} // namespace sluice::runtime
