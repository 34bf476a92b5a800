#include "runtime/format/sha256.h"

#include <openssl/sha.h>

namespace sluice::format {

Sha256 sha256(std::span<const uint8_t> bytes) {
  Sha256 hash;
  SHA256(bytes.data(), bytes.size(), hash.data());
  return hash;
}

std::string hex(const Sha256 &hash) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : hash) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

} // namespace sluice::format
