#include "hw/numerics/reduction.h"

#include <algorithm>

#include "hw/numerics/numerics.h"

namespace sluice::numerics {

namespace {

constexpr uint32_t kIndexMask = 0xFFFFFF;

unsigned exponentOf(uint32_t value) { return (value >> 23) & 255; }

/// Bits that order like the values as signed integers: zeros equal, NaN on top.
int32_t argmaxKey(uint32_t value) {
  if (isNaN(value))
    return static_cast<int32_t>(kFp32NaN);
  const auto magnitude = static_cast<int32_t>(flush(value) & 0x7FFFFFFF);
  return value >> 31 ? -magnitude : magnitude;
}

/// Sign-extends an integer of a sum.
int64_t wrapSum(int64_t value) {
  constexpr unsigned spare = 64 - isa::kSumBits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << spare) >> spare;
}

int64_t moveDown(int64_t value, unsigned bytes) { return value >> std::min(8 * bytes, 63U); }

} // namespace

uint32_t Reduction::add(isa::Reduce kind, std::span<const uint32_t> row) {
  if (kind == isa::Reduce::Sum)
    return addSum(row);
  if (kind == isa::Reduce::Argmax)
    return addArgmax(row);
  most = reduceMax(row, most);
  return *most;
}

uint32_t Reduction::addArgmax(std::span<const uint32_t> row) {
  for (uint32_t i = 0; i < row.size(); ++i)
    if (!most || argmaxKey(row[i]) > argmaxKey(*most)) {
      most = row[i];
      index = (lanesBefore + i) & kIndexMask;
    }
  lanesBefore += static_cast<uint32_t>(row.size());
  return toBits(static_cast<float>(index));
}

uint32_t Reduction::addSum(std::span<const uint32_t> row) {
  unsigned largest = 0;
  for (uint32_t value : row)
    largest = std::max(largest, exponentOf(value) >> 3);
  int64_t sum = 0;
  for (uint32_t value : row) {
    const unsigned exponent = exponentOf(value);
    if (exponent == 255) {
      plus |= isNaN(value) || !(value >> 31);
      minus |= isNaN(value) || value >> 31;
    }
    if (exponent == 0)
      continue;
    const int64_t field = static_cast<int64_t>((value & 0x7FFFFF) | 0x800000)
                          << ((exponent & 7) + isa::kSumFraction);
    const int64_t aligned = moveDown(field, largest - (exponent >> 3));
    sum += value >> 31 ? -aligned : aligned;
  }
  if (started) {
    const unsigned common = std::max(anchor, largest);
    sum = wrapSum(moveDown(total, common - anchor) + moveDown(sum, common - largest));
    largest = common;
  }
  started = true;
  total = sum;
  anchor = largest;
  if (plus || minus)
    return plus && minus ? kFp32NaN : plus ? 0x7F800000 : 0xFF800000;
  return roundInteger(total, 8 * static_cast<int>(anchor) - static_cast<int>(isa::kSumOffset),
                      isa::Emit::Fp32);
}

} // namespace sluice::numerics
