#include "compiler/check/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hw/numerics/bf16.h"

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

/// Rounds numbers of fp32 that are zero or normal, in a loop that becomes vector instructions.
template <bool nearest>
Rounding::Quick Rounding::roundFloats(const reference::Tensor &from, reference::Tensor &to) const {
  constexpr int32_t kHalf = 0x7FFF, kAll = 0xFFFF, kDroppedBits = 0xFFFF, kLargest = 0x7F7F0000,
                    kFirstNormal = 0x00800000, kInfinite = 0x7F800000, kMagnitude = 0x7FFFFFFF;
  const int32_t ifNegative = towards == Direction::Down ? kAll : 0,
                ifPositive = towards == Direction::Up ? kAll : 0;
  const double *const values = from.values.data();
  double *const results = to.values.data();
  int32_t others = 0, changes = 0; // none if zero
  for (size_t i = 0, count = from.values.size(); i < count; ++i) {
    const auto value = static_cast<float>(values[i]);
    const auto bits = std::bit_cast<int32_t>(value);
    const int32_t magnitude = bits & kMagnitude;
    const int32_t add = nearest    ? kHalf + (magnitude >> 16 & 1)
                        : bits < 0 ? ifNegative
                                   : ifPositive;
    // The magnitude of NaN and infinity is not used.
    const int32_t sum = std::min(magnitude, kInfinite) + add;
    const int32_t rounded = std::min(sum & ~kDroppedBits, kLargest) | (bits & ~kMagnitude);
    const int32_t result = magnitude == 0 ? bits : rounded;
    others |= static_cast<int32_t>(magnitude >= kInfinite) |
              static_cast<int32_t>(magnitude < kFirstNormal && magnitude != 0) |
              static_cast<int32_t>(double{value} != values[i]);
    changes |= result ^ bits;
    results[i] = std::bit_cast<float>(result);
  }
  return others != 0 ? Quick::Impossible : changes != 0 ? Quick::Changed : Quick::Same;
}

std::optional<reference::Tensor> Rounding::roundedConstant(const reference::Tensor &tensor) {
  reference::Tensor rounded(tensor.shape);
  const Quick quick = towards == Direction::Random    ? Quick::Impossible
                      : towards == Direction::Nearest ? roundFloats<true>(tensor, rounded)
                                                      : roundFloats<false>(tensor, rounded);
  if (quick == Quick::Changed)
    return rounded;
  if (quick == Quick::Same)
    return std::nullopt;
  for (size_t i = 0; i < rounded.values.size(); ++i) {
    const double value = tensor.values[i], one = (*this)(value);
    rounded.values[i] = std::isinf(one) && std::isfinite(value)
                            ? std::copysign(double{numerics::kLargestBf16}, one)
                            : one;
  }
  return rounded.values == tensor.values ? std::nullopt : std::optional(std::move(rounded));
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
