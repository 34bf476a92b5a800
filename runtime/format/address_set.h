// The exact set of addresses that an affine stream reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice::format {

/// `count` trips of `stride`: adds {0, stride, ..., (count-1)*stride}.
struct StreamTerm {
  int64_t stride = 0;
  uint64_t count = 1;
};

/// region + (base + one element of every term, modulo 2^bits). A region is a multiple
/// of 2^bits.
struct AddressStream {
  int64_t base = 0;
  std::vector<StreamTerm> terms;
  unsigned bits = 16;
  int64_t region = 0;
};

/// The stream of a base in a field of so many bits, without terms. `ring` is log2 of the
/// addresses within which it stays; 0: no ring.
AddressStream addressesFrom(uint32_t base, unsigned bits, uint32_t ring);

/// Addresses first to last, both included.
struct AddressRange {
  int64_t first = 0;
  int64_t last = -1;
};

/// The lowest address of the stream outside all ranges (ascending, disjoint).
std::optional<int64_t> firstOutside(const AddressStream &stream,
                                    std::span<const AddressRange> valid);

/// Adds the addresses of the stream to `reached`, one bit per address, which grows to
/// hold them.
void addReached(const AddressStream &stream, std::vector<uint64_t> &reached);

} // namespace sluice::format
