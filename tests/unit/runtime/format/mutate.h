// Program files that lie: bytes changed, then every hash computed anew, so that
// the checks behind the hashes are what has to hold.
#pragma once

#include <algorithm>

#include "runtime/format/bytes.h"
#include "runtime/format/program_file.h"

namespace sluice::test {

template <typename T> T load(const std::vector<uint8_t> &bytes, size_t offset) {
  return format::ByteReader(std::span(bytes).subspan(offset)).number<T>();
}

template <typename T> void store(std::vector<uint8_t> &bytes, size_t offset, T value) {
  format::ByteWriter out;
  out.number(value);
  std::copy(out.bytes.begin(), out.bytes.end(), bytes.begin() + offset);
}

/// Recomputes the hashes of sections (where the table still points into the
/// file) and of the header.
inline void rehash(std::vector<uint8_t> &bytes) {
  using namespace format;
  const size_t tableEnd = kHeaderBytes + kSectionCount * kEntryBytes;
  for (size_t i = 0; i < kSectionCount; ++i) {
    const size_t entry = kHeaderBytes + i * kEntryBytes;
    const auto offset = load<uint64_t>(bytes, entry + kEntryOffset);
    const auto size = load<uint64_t>(bytes, entry + kEntrySize);
    if (offset > bytes.size() || size > bytes.size() - offset)
      continue;
    const Sha256 hash = sha256(std::span(bytes).subspan(offset, size));
    std::copy(hash.begin(), hash.end(), bytes.begin() + entry + kEntryHash);
  }
  std::fill_n(bytes.begin() + kHeaderHashOffset, sizeof(Sha256), uint8_t{0});
  const Sha256 hash = sha256(std::span(bytes).first(tableEnd));
  std::copy(hash.begin(), hash.end(), bytes.begin() + kHeaderHashOffset);
}

} // namespace sluice::test
