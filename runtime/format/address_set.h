// The exact set of addresses that an affine stream reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice::format {

/// A loop of an address stream: it adds 0, stride, ..., or (count - 1) * stride.
struct StreamTerm {
  int64_t stride = 0;
  uint64_t count = 1;
};

/// The addresses region + (base + one addend of every term) modulo 2^bits. `region` is a multiple
/// of 2^bits.
struct AddressStream {
  int64_t base = 0;
  std::vector<StreamTerm> terms;
  unsigned bits = 16;
  int64_t region = 0;
};

/// Returns the stream with base `base` in a field of `bits` bits, without terms. `ring` is log2 of
/// the number of addresses within which it wraps; 0 means that it does not wrap.
AddressStream addressesFrom(uint32_t base, unsigned bits, uint32_t ring);

/// The addresses from `first` to `last`, inclusive.
struct AddressRange {
  int64_t first = 0;
  int64_t last = -1;
};

/// Returns the lowest address of the stream outside all ranges; nothing if there is none. The
/// ranges are ascending and disjoint.
std::optional<int64_t> firstOutside(const AddressStream &stream,
                                    std::span<const AddressRange> valid);

/// Sets the bit of each address of the stream in `reached`, which grows as needed.
void addReached(const AddressStream &stream, std::vector<uint64_t> &reached);

} // namespace sluice::format
