#include "tools/cli/io/elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice::io {
namespace {

using Kind = Encoding::Kind;

/// The nearest float64 if that is exact, else one with an odd last bit.
double toOdd(uint64_t magnitude) {
  constexpr int kBits = 53;
  const int extra = std::max(0, 64 - std::countl_zero(magnitude) - kBits);
  const uint64_t lost = magnitude & ((uint64_t{1} << extra) - 1);
  const uint64_t kept = magnitude >> extra | (lost != 0 ? 1 : 0);
  return static_cast<double>(kept << extra);
}

double fromInteger(uint64_t bits, const Encoding &encoding) {
  if (encoding.kind == Kind::Bool)
    return bits != 0 ? 1 : 0;
  const auto shift = static_cast<unsigned>(64 - 8 * encoding.bytes);
  if (encoding.kind == Kind::Unsigned)
    return toOdd(bits);
  const int64_t value = static_cast<int64_t>(bits << shift) >> shift;
  return value < 0 ? -toOdd(-static_cast<uint64_t>(value)) : toOdd(static_cast<uint64_t>(value));
}

} // namespace

std::optional<Encoding> encodingOf(std::string_view descr) {
  // NumPy has no bfloat16; packages that add it store two raw bytes.
  if (descr == "<V2" || descr == "|V2" || descr == "bfloat16")
    return Encoding{Kind::BFloat16, 2};
  if (descr.size() != 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return std::nullopt;
  const auto bytes = static_cast<size_t>(descr[2] - '0');
  const bool big = descr[0] == '>';
  const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  switch (descr[1]) {
  case 'b':
    return bytes == 1 ? std::optional(Encoding{Kind::Bool, 1}) : std::nullopt;
  case 'i':
    return power ? std::optional(Encoding{Kind::Signed, bytes, big}) : std::nullopt;
  case 'u':
    return power ? std::optional(Encoding{Kind::Unsigned, bytes, big}) : std::nullopt;
  case 'f':
    return power && bytes > 1 ? std::optional(Encoding{Kind::Float, bytes, big}) : std::nullopt;
  default:
    return std::nullopt;
  }
}

Type typeOf(const Encoding &encoding) {
  if (encoding.kind == Kind::BFloat16)
    return Type::BFloat16;
  if (encoding.kind != Kind::Float || encoding.bytes == 8)
    return Type::Float64;
  return encoding.bytes == 4 ? Type::Float32 : Type::Float16;
}

std::vector<uint8_t> decode(std::string_view data, const Encoding &encoding) {
  const bool integer = encoding.kind != Kind::Float && encoding.kind != Kind::BFloat16;
  std::vector<uint8_t> all;
  all.reserve(data.size() / encoding.bytes * typeBytes(typeOf(encoding)));
  for (size_t at = 0; at < data.size(); at += encoding.bytes) {
    uint8_t element[8] = {};
    std::copy_n(data.begin() + static_cast<ptrdiff_t>(at), encoding.bytes, element);
    if (encoding.bigEndian)
      std::reverse(element, element + encoding.bytes);
    size_t size = encoding.bytes;
    if (integer) {
      uint64_t bits = 0;
      std::memcpy(&bits, element, sizeof bits);
      const double value = fromInteger(bits, encoding);
      size = sizeof value;
      std::memcpy(element, &value, size);
    }
    all.insert(all.end(), element, element + size);
  }
  return all;
}

} // namespace sluice::io
