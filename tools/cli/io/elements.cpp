#include "tools/cli/io/elements.h"

#include <algorithm>

namespace sluice::io {
namespace {

using Kind = Encoding::Kind;

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
  using enum format::HostType;
  switch (encoding.kind) {
  case Kind::Bool:
    return Bool;
  case Kind::BFloat16:
    return BFloat16;
  case Kind::Float:
    return encoding.bytes == 8 ? Float64 : encoding.bytes == 4 ? Float32 : Float16;
  case Kind::Signed:
    return encoding.bytes == 8   ? Int64
           : encoding.bytes == 4 ? Int32
           : encoding.bytes == 2 ? Int16
                                 : Int8;
  case Kind::Unsigned:
    return encoding.bytes == 8   ? UInt64
           : encoding.bytes == 4 ? UInt32
           : encoding.bytes == 2 ? UInt16
                                 : UInt8;
  }
  return Float32;
}

std::vector<uint8_t> decode(std::string_view data, const Encoding &encoding) {
  std::vector<uint8_t> all(data.begin(), data.end());
  if (encoding.bigEndian)
    for (auto at = all.begin(); at != all.end(); at += static_cast<ptrdiff_t>(encoding.bytes))
      std::reverse(at, at + static_cast<ptrdiff_t>(encoding.bytes));
  return all;
}

} // namespace sluice::io
