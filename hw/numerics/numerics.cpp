#include "hw/numerics/numerics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sluice::numerics {

namespace {

constexpr unsigned kFp32Lsb = 150; // value = significand * 2^(exponent - 150)

/// Sign-extends an acc_bits wide integer.
int64_t wrap(int64_t m) {
  constexpr unsigned spare = 64 - isa::kAccBits;
  return static_cast<int64_t>(static_cast<uint64_t>(m) << spare) >> spare;
}

/// The lane's integer on an anchor `q` that is at least its own.
int64_t alignTo(const AccLane &lane, uint8_t q) { return lane.m >> std::min(8 * (q - lane.q), 63); }

/// m with a smaller exponent than normal becomes zero, keeping the sign.
uint32_t flushResult(float value) { return flush(toBits(value)); }

} // namespace

uint16_t roundToBf16(double value) {
  if (std::isnan(value))
    return kBf16NaN;
  constexpr unsigned kDropped = 52 - 7; // bits of the significand of a double that bf16 has not
  constexpr int kBias = 1023 - 127;
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  const uint64_t half = uint64_t{1} << (kDropped - 1);
  // A carry into the exponent is the next power of two.
  const uint64_t rounded = (magnitude + half - 1 + (magnitude >> kDropped & 1)) >> kDropped;
  const int exponent = static_cast<int>(rounded >> 7) - kBias;
  if (exponent >= 255)
    return sign | 0x7F80;
  return exponent <= 0 ? sign : static_cast<uint16_t>(sign | exponent << 7 | (rounded & 127));
}

// Matrix unit ------------------------------------------------------------------

uint64_t packLane(const AccLane &lane) {
  constexpr uint64_t mask = (uint64_t{1} << isa::kAccBits) - 1;
  return (static_cast<uint64_t>(lane.m) & mask) |
         (static_cast<uint64_t>(lane.q & 63) << isa::kAccBits) |
         (static_cast<uint64_t>(lane.poison) << (isa::kAccBits + isa::kAnchorBits));
}

AccLane unpackLane(uint64_t image) {
  return {wrap(static_cast<int64_t>(image)), static_cast<uint8_t>((image >> isa::kAccBits) & 63),
          ((image >> (isa::kAccBits + isa::kAnchorBits)) & 1) != 0};
}

std::optional<AccLane> preloadLane(uint32_t value) {
  const unsigned exponent = (value >> 23) & 255;
  if (exponent == 255)
    return std::nullopt;
  if (exponent == 0)
    return AccLane{};
  // significand * 2^(exponent - 150) = (significand << k) * 2^(8q - 279).
  const unsigned scaled = exponent + isa::kValueOffset - kFp32Lsb;
  const unsigned k = 8 + scaled % 8;
  const int64_t magnitude = static_cast<int64_t>((value & 0x7FFFFF) | 0x800000) << k;
  return AccLane{(value >> 31) ? -magnitude : magnitude, static_cast<uint8_t>((scaled - k) / 8),
                 false};
}

AccLane anchoredAdd(const AccLane &left, const AccLane &right) {
  const uint8_t q = std::max(left.q, right.q);
  return {wrap(alignTo(left, q) + alignTo(right, q)), q, left.poison || right.poison};
}

uint32_t roundInteger(int64_t m, int lowest, isa::Emit format) {
  if (m == 0)
    return 0;
  const uint32_t sign = m < 0 ? 0x80000000 : 0;
  const uint64_t magnitude = m < 0 ? -static_cast<uint64_t>(m) : m;
  const int top = 63 - std::countl_zero(magnitude);
  const int bits = format == isa::Emit::Bf16 ? 8 : 24;
  // Leading one at bit 63, then keep `bits` of it; the rest decides.
  const uint64_t aligned = magnitude << (63 - top);
  uint64_t significand = aligned >> (64 - bits);
  const uint64_t rest = aligned << bits;
  constexpr uint64_t half = uint64_t{1} << 63;
  if (rest > half || (rest == half && (significand & 1)))
    ++significand;
  int exponent = top + lowest + 127;
  if (significand >> bits) {
    significand >>= 1;
    ++exponent;
  }
  if (exponent >= 255)
    return sign | 0x7F800000;
  if (exponent <= 0)
    return sign;
  const uint32_t mantissa = static_cast<uint32_t>(significand << (24 - bits)) & 0x7FFFFF;
  return sign | static_cast<uint32_t>(exponent) << 23 | mantissa;
}

uint32_t resultLane(const AccLane &lane, isa::Emit format) {
  if (format == isa::Emit::Low || format == isa::Emit::High)
    return static_cast<uint32_t>(packLane(lane) >> (format == isa::Emit::High ? 32 : 0));
  if (lane.poison)
    return kFp32NaN;
  return roundInteger(lane.m, 8 * lane.q - static_cast<int>(isa::kValueOffset), format);
}

// Vector unit ------------------------------------------------------------------

uint32_t add(uint32_t left, uint32_t right) {
  // A sum below the normal range is exact, so flushing after the host's own
  // rounding is the same as rounding with unbounded exponent first.
  const float sum = toFloat(flush(left)) + toFloat(flush(right));
  return std::isnan(sum) ? kFp32NaN : flushResult(sum);
}

uint32_t sub(uint32_t left, uint32_t right) {
  return isNaN(right) ? kFp32NaN : add(left, right ^ 0x80000000);
}

uint32_t mul(uint32_t left, uint32_t right) {
  const float l = toFloat(flush(left)), r = toFloat(flush(right));
  const float product = l * r;
  if (std::isnan(product))
    return kFp32NaN;
  constexpr float smallest = std::numeric_limits<float>::min();
  if (std::fabs(product) == smallest) {
    // The host rounded on the coarser grid of denormals. With unbounded
    // exponent only magnitudes from 2^-126 - 2^-151 on round up to 2^-126.
    const double exact = static_cast<double>(l) * static_cast<double>(r);
    if (std::fabs(exact) < std::ldexp(1.0, -126) - std::ldexp(1.0, -151))
      return toBits(product) & 0x80000000;
  }
  return flushResult(product);
}

namespace {

/// Order of the values as integers: -0 just below +0, infinities at the ends.
int32_t orderKey(uint32_t value) {
  value = flush(value);
  return static_cast<int32_t>(value ^
                              (static_cast<uint32_t>(static_cast<int32_t>(value) >> 31) >> 1));
}

uint32_t boolean(bool value) { return value ? 0x3F800000 : 0; }

} // namespace

uint32_t max(uint32_t left, uint32_t right) {
  if (isNaN(left) || isNaN(right))
    return kFp32NaN;
  return flush(orderKey(left) < orderKey(right) ? right : left);
}

uint32_t min(uint32_t left, uint32_t right) {
  if (isNaN(left) || isNaN(right))
    return kFp32NaN;
  return flush(orderKey(left) < orderKey(right) ? left : right);
}

uint32_t alu(isa::Alu op, uint32_t left, uint32_t right, uint32_t b, uint32_t c) {
  const float l = toFloat(flush(left)), r = toFloat(flush(right));
  switch (op) {
  case isa::Alu::Pass:
    return left;
  case isa::Alu::Add:
    return add(left, right);
  case isa::Alu::Sub:
    return sub(left, right);
  case isa::Alu::Rsub:
    return sub(right, left);
  case isa::Alu::Mul:
    return mul(left, right);
  case isa::Alu::Max:
    return max(left, right);
  case isa::Alu::Min:
    return min(left, right);
  case isa::Alu::Lt:
    return boolean(l < r);
  case isa::Alu::Le:
    return boolean(l <= r);
  case isa::Alu::Eq:
    return boolean(l == r);
  case isa::Alu::Ne:
    return boolean(l != r);
  case isa::Alu::Ge:
    return boolean(l >= r);
  case isa::Alu::Gt:
    return boolean(l > r);
  case isa::Alu::Select:
    return l != 0 ? b : c;
  }
  return kFp32NaN;
}

void aluRow(isa::Alu op, std::span<const uint32_t> left, std::span<const uint32_t> right,
            std::span<const uint32_t> b, std::span<const uint32_t> c, std::span<uint32_t> out) {
  // One switch per row for the frequent operations, one per lane for the rest.
  const auto each = [&](auto &&function) {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = function(i);
  };
  switch (op) {
  case isa::Alu::Add:
    return each([&](size_t i) { return add(left[i], right[i]); });
  case isa::Alu::Mul:
    return each([&](size_t i) { return mul(left[i], right[i]); });
  case isa::Alu::Max:
    return each([&](size_t i) { return max(left[i], right[i]); });
  default:
    return each([&](size_t i) { return alu(op, left[i], right[i], b[i], c[i]); });
  }
}

uint32_t reduceMax(std::span<const uint32_t> row, std::optional<uint32_t> carry) {
  uint32_t result = carry ? *carry : max(row[0], row[0]);
  for (uint32_t value : row)
    result = max(result, value);
  return result;
}

uint16_t finish(isa::Post post, uint32_t value, isa::Part part) {
  if (post == isa::Post::Relu && (value >> 31) && flush(value) != 0x80000000 && !isNaN(value))
    return 0;
  switch (part) {
  case isa::Part::Bf16:
    return roundToBf16(value);
  case isa::Part::High:
    return static_cast<uint16_t>(value >> 16);
  case isa::Part::Low:
    return static_cast<uint16_t>(value);
  }
  return kBf16NaN;
}

} // namespace sluice::numerics
