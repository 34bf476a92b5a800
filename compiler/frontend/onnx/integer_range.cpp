#include "compiler/frontend/onnx/integer_range.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace sluice::frontend {
namespace {

/// From which magnitude on a range says no more than its type.
constexpr double kAnySize = 0x1p31;

} // namespace

double IntegerRange::magnitude() const { return std::max(std::abs(least), std::abs(most)); }

IntegerRange IntegerRange::operator*(const IntegerRange &other) const {
  const auto [low, high] =
      std::minmax({least * other.least, least * other.most, most * other.least, most * other.most});
  return {low, high};
}

IntegerRange IntegerRange::times(int64_t count) const {
  const auto factor = static_cast<double>(count);
  return {least * factor, most * factor};
}

IntegerRange IntegerRange::power(int64_t count) const {
  const double high = std::pow(magnitude(), static_cast<double>(count));
  return {least < 0 ? -high : 0, high};
}

IntegerRange joined(const IntegerRange &one, const IntegerRange &other) {
  return {std::min(one.least, other.least), std::max(one.most, other.most)};
}

IntegerRange rangeOf(DataType type) {
  using Proto = onnx::TensorProto;
  const auto ofBits = [](int bits) {
    return IntegerRange{-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
  };
  switch (type) {
  case Proto::BOOL:
    return {0, 1};
  case kUInt4:
    return {0, 15};
  case kInt4:
    return ofBits(4);
  case Proto::INT8:
    return ofBits(8);
  case Proto::INT16:
    return ofBits(16);
  case Proto::INT32:
    return ofBits(32);
  case Proto::UINT8:
    return {0, 255};
  case Proto::UINT16:
    return {0, 65535};
  case Proto::UINT32:
    return {0, 0x1p32 - 1};
  case Proto::UINT64:
    return {0, 0x1p64};
  default:
    return ofBits(64);
  }
}

std::optional<IntegerRange> acceptedRange(DataType type) {
  if (!isIntegerType(type))
    return std::nullopt;
  const IntegerRange all = rangeOf(type);
  return IntegerRange{std::max(all.least, -kMostExact), std::min(all.most, kMostExact)};
}

std::string rangeText(const IntegerRange &range) {
  if (range.magnitude() >= kAnySize - 1)
    return "of any value";
  return fmt::format("in [{}, {}]", range.least, range.most);
}

bool isExact(int64_t integer) {
  const auto size = integer < 0 ? -static_cast<uint64_t>(integer) : static_cast<uint64_t>(integer);
  return size == 0 || std::bit_width(size) - std::countr_zero(size) <= 8;
}

} // namespace sluice::frontend
