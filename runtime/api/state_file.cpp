#include "runtime/api/state_file.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runtime/format/bytes.h"
#include "runtime/format/state.h"

namespace sluice::runtime {
namespace {

using format::Sha256;

/// As that of program files: not ASCII at the beginning, a line feed at the end.
constexpr std::array<uint8_t, 8> kMagic{0x9D, 'S', 'l', 'S', 't', 'a', 't', '\n'};
constexpr uint32_t kVersion = 1;
/// Magic, version, zero, identity of the program.
constexpr size_t kHeaderBytes = kMagic.size() + 4 + 4 + sizeof(Sha256);

size_t imageSize(const format::Program &program) {
  return format::stateRows(program.state) * program.geometry.lanes;
}

} // namespace

size_t stateFileSize(const format::Program &program) {
  // An inference of several steps begins with the initial state: from one to the next there is
  // none.
  if (program.models.front().steps > 1)
    return 0;
  const size_t elements = imageSize(program);
  return elements == 0 ? 0 : kHeaderBytes + elements * sizeof(uint16_t) + sizeof(Sha256);
}

std::vector<uint8_t> packState(const Sha256 &identity, std::span<const uint16_t> image) {
  format::ByteWriter out;
  out.numbers(kMagic);
  out.number(kVersion);
  out.number(uint32_t{0});
  out.numbers(identity);
  out.numbers(image);
  const Sha256 hash = format::sha256(out.bytes);
  out.numbers(hash);
  return std::move(out.bytes);
}

std::optional<std::string> unpackState(const format::Program &program, const Sha256 &identity,
                                       std::span<const uint8_t> bytes,
                                       std::vector<uint16_t> &image) {
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin()))
    return "the magic bytes at the start are missing";
  format::ByteReader in(bytes.subspan(kMagic.size()));
  if (const auto version = in.number<uint32_t>(); version != kVersion)
    return fmt::format("its version is {}, this build reads version {}", version, kVersion);
  const std::span<const uint8_t> content = bytes.first(bytes.size() - sizeof(Sha256));
  const Sha256 hash = format::sha256(content);
  if (!std::equal(hash.begin(), hash.end(), bytes.end() - sizeof(Sha256)))
    return "damaged: the SHA-256 does not match";
  in.number<uint32_t>();
  if (!std::ranges::equal(in.numbers<uint8_t>(sizeof(Sha256)), identity))
    return "it belongs to another program file";
  image = in.numbers<uint16_t>(imageSize(program));
  return std::nullopt;
}

} // namespace sluice::runtime
