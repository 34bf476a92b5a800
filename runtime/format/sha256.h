// SHA-256, by OpenSSL.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace sluice::format {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::span<const uint8_t> bytes);

/// Lower-case hexadecimal.
std::string hex(const Sha256 &hash);

} // namespace sluice::format
