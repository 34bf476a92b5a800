#include "runtime/format/address_set.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace sluice::format {
namespace {

using Bits = std::vector<uint64_t>;

constexpr unsigned kWordBits = 6; ///< log2 of the addresses in a word

/// to |= from rotated up by `amount` addresses; both hold 2^bits bits, bits >= kWordBits.
void orRotated(Bits &to, const Bits &from, uint64_t amount) {
  const size_t words = from.size();
  const size_t skip = amount / 64;
  const unsigned shift = amount % 64;
  for (size_t i = 0; i < words; ++i) {
    const uint64_t word = from[i];
    if (word == 0)
      continue;
    to[(i + skip) % words] |= word << shift;
    if (shift != 0)
      to[(i + skip + 1) % words] |= word >> (64 - shift);
  }
}

/// All addresses in the region. A term of n trips is a union of about log2(n) rotations.
Bits expand(const AddressStream &stream) {
  const uint64_t modulus = uint64_t{1} << std::max(stream.bits, kWordBits);
  Bits set(modulus / 64);
  const uint64_t base = static_cast<uint64_t>(stream.base) % modulus;
  set[base / 64] |= uint64_t{1} << (base % 64);
  for (const StreamTerm &term : stream.terms) {
    const uint64_t stride = static_cast<uint64_t>(term.stride) % modulus;
    if (stride == 0)
      continue;
    // Beyond modulus trips nothing new is reached.
    const uint64_t count = std::min(term.count, modulus);
    for (uint64_t done = 1; done < count;) {
      const uint64_t more = std::min(done, count - done);
      const Bits old = set;
      orRotated(set, old, more * stride % modulus);
      done += more;
    }
  }
  if (stream.bits < kWordBits) {
    for (unsigned bits = kWordBits; bits-- > stream.bits;)
      set[0] |= set[0] >> (1U << bits);
    set[0] &= (uint64_t{1} << (1U << stream.bits)) - 1;
  }
  return set;
}

/// Smallest and largest address before wrapping; false if that overflows.
bool bounds(const AddressStream &stream, int64_t &low, int64_t &high) {
  low = high = stream.base;
  for (const StreamTerm &term : stream.terms) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(term.stride, static_cast<int64_t>(term.count - 1), &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
      return false;
  }
  return true;
}

} // namespace

AddressStream addressesFrom(uint32_t base, unsigned bits, uint32_t ring) {
  if (ring == 0)
    return {base, {}, bits};
  const int64_t place = base % (uint32_t{1} << ring);
  return {place, {}, ring, int64_t{base} - place};
}

std::optional<int64_t> firstOutside(const AddressStream &stream,
                                    std::span<const AddressRange> valid) {
  int64_t low = 0;
  int64_t high = 0;
  if (bounds(stream, low, high) && low >= 0 && high < int64_t{1} << stream.bits) {
    const auto after =
        std::upper_bound(valid.begin(), valid.end(), stream.region + low,
                         [](int64_t value, const AddressRange &r) { return value < r.first; });
    if (after != valid.begin() && stream.region + high <= std::prev(after)->last)
      return std::nullopt;
  }
  // It wraps, spans two memories, or is wrong: look at every address.
  const Bits set = expand(stream);
  size_t next = 0;
  for (size_t i = 0; i < set.size(); ++i)
    for (uint64_t word = set[i]; word != 0; word &= word - 1) {
      const int64_t address = stream.region + static_cast<int64_t>(i * 64) + std::countr_zero(word);
      while (next < valid.size() && address > valid[next].last)
        ++next;
      if (next == valid.size() || address < valid[next].first)
        return address;
    }
  return std::nullopt;
}

void addReached(const AddressStream &stream, std::vector<uint64_t> &reached) {
  const Bits set = expand(stream);
  const auto region = static_cast<uint64_t>(stream.region);
  reached.resize(std::max<size_t>(reached.size(), region / 64 + set.size()));
  for (size_t i = 0; i < set.size(); ++i)
    reached[region / 64 + i] |= set[i] << (region % 64);
}

} // namespace sluice::format
