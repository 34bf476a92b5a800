#include "compiler/check/rounding.h"

#include <bit>
#include <cmath>
#include <limits>

namespace sluice::check {
namespace {

constexpr unsigned kDropped = 45; ///< fraction bits that a double has and a bf16 has not
constexpr uint64_t kUnit = uint64_t{1} << kDropped;
constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr int kSmallestExponent = -126;
constexpr double kNormal = 0x1p-126; ///< the smallest normal number
constexpr uint64_t kRarely = 6;      ///< bits of a random number that are all zero one time in four

/// The bits of a magnitude once `add` is added and the dropped bits are cleared.
double finish(uint64_t magnitude, uint64_t add, uint64_t sign) {
  constexpr double kBeyond = 0x1p128;
  const double rounded = std::bit_cast<double>((magnitude + add) & ~(kUnit - 1));
  if (rounded >= kBeyond)
    return std::bit_cast<double>(std::bit_cast<uint64_t>(std::numeric_limits<double>::infinity()) |
                                 sign);
  return std::bit_cast<double>((rounded < kNormal ? 0 : std::bit_cast<uint64_t>(rounded)) | sign);
}

} // namespace

double nearestBf16(double value) {
  if (!std::isfinite(value))
    return value;
  const uint64_t bits = std::bit_cast<uint64_t>(value), magnitude = bits & ~kSign;
  return finish(magnitude, kUnit / 2 - 1 + (magnitude >> kDropped & 1), bits & kSign);
}

double spacingOfBf16(double value) {
  if (!std::isfinite(value))
    return 0;
  constexpr int kFractionBits = 7;
  return std::ldexp(
      1.0, (value == 0 ? kSmallestExponent : std::max(std::ilogb(value), kSmallestExponent)) -
               kFractionBits);
}

uint64_t Rounding::random() {
  state += 0x9E3779B97F4A7C15; // splitmix64
  uint64_t mixed = state;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
  return mixed ^ mixed >> 31;
}

double Rounding::operator()(double value) {
  if (towards == Direction::Nearest || !std::isfinite(value))
    return nearestBf16(value);
  const uint64_t bits = std::bit_cast<uint64_t>(value), magnitude = bits & ~kSign,
                 sign = bits & kSign;
  bool away = (towards == Direction::Up) == (sign == 0);
  if (towards == Direction::Random) {
    const uint64_t drawn = random();
    away = (drawn & 1) != 0;
    // The machine keeps fp32 between the operations of a pass.
    if ((drawn & kRarely) == 0 && std::abs(value) >= kNormal && std::isfinite(nearestBf16(value)))
      return value;
  }
  return finish(magnitude, away ? kUnit - 1 : 0, sign);
}

void Rounding::round(reference::Tensor &tensor) {
  for (double &value : tensor.values)
    value = (*this)(value);
}

double Rounding::choice() {
  switch (towards) {
  case Direction::Nearest:
    return 0;
  case Direction::Up:
    return 1;
  case Direction::Down:
    return -1;
  case Direction::Random:
    return std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
  }
  return 0;
}

} // namespace sluice::check
