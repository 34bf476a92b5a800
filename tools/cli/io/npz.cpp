// NumPy's .npz: a ZIP archive of .npy members, stored or deflated.
#include <fmt/format.h>
#include <zlib.h>

#include "tools/cli/io/tensor.h"

namespace sluice::io {
namespace {

/// Most bytes all members together may have.
constexpr uint64_t kMaxBytes = uint64_t{1} << 34;

class Archive {
public:
  explicit Archive(std::string_view bytes) : bytes(bytes) {}

  std::variant<std::vector<Tensor>, Error> read() {
    // The end record: 22 bytes and a comment of up to 65535.
    size_t end = bytes.size() < 22 ? std::string_view::npos
                                   : bytes.rfind(std::string_view("PK\5\6", 4), bytes.size() - 22);
    if (end == std::string_view::npos)
      return bad("the central directory is missing");
    const uint64_t count = number(end + 10, 2);
    uint64_t at = number(end + 16, 4);
    std::vector<Tensor> tensors;
    for (uint64_t i = 0; i < count; ++i) {
      if (at + 46 > bytes.size() || bytes.substr(at, 4) != std::string_view("PK\1\2", 4))
        return bad("the central directory is damaged");
      Member member;
      member.method = number(at + 10, 2);
      member.crc = number(at + 16, 4);
      member.packed = number(at + 20, 4);
      member.size = number(at + 24, 4);
      const uint64_t nameSize = number(at + 28, 2);
      const uint64_t extraSize = number(at + 30, 2);
      member.local = number(at + 42, 4);
      const uint64_t next = at + 46 + nameSize + extraSize + number(at + 32, 2);
      if (next > bytes.size())
        return bad("the central directory is damaged");
      member.name = bytes.substr(at + 46, nameSize);
      if (!member.widen(bytes.substr(at + 46 + nameSize, extraSize)))
        return bad("the central directory is damaged");
      at = next;
      auto content = extract(member);
      if (auto *error = std::get_if<Error>(&content))
        return *error;
      auto tensor = readNpy(std::get<std::string>(content));
      if (auto *error = std::get_if<Error>(&tensor))
        return Error{error->code, fmt::format("member '{}': {}", member.name, error->message)};
      auto &found = std::get<Tensor>(tensor);
      found.name = member.name.ends_with(".npy") ? member.name.substr(0, member.name.size() - 4)
                                                 : member.name;
      tensors.push_back(std::move(found));
    }
    return tensors;
  }

private:
  struct Member {
    std::string name;
    uint64_t method = 0, crc = 0, packed = 0, size = 0, local = 0;

    /// Takes 64-bit sizes from the extra field where the 32-bit ones say so.
    bool widen(std::string_view extra) {
      while (extra.size() >= 4) {
        const auto id = read(extra, 0, 2);
        const auto length = read(extra, 2, 2);
        if (length > extra.size() - 4)
          return false;
        std::string_view body = extra.substr(4, length);
        if (id == 1)
          for (uint64_t *value : {&size, &packed, &local})
            if (*value == 0xFFFFFFFF) {
              if (body.size() < 8)
                return false;
              *value = read(body, 0, 8);
              body.remove_prefix(8);
            }
        extra.remove_prefix(4 + length);
      }
      return true;
    }
  };

  static uint64_t read(std::string_view text, size_t offset, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i)
      value |= static_cast<uint64_t>(static_cast<uint8_t>(text[offset + i])) << (8 * i);
    return value;
  }
  uint64_t number(size_t offset, unsigned size) const { return read(bytes, offset, size); }

  static Error bad(const std::string &what) { return {"E0605", "not a valid .npz file: " + what}; }

  std::variant<std::string, Error> extract(const Member &member) {
    const auto broken = [&](std::string_view what) {
      return bad(fmt::format("member '{}' {}", member.name, what));
    };
    if (member.local > bytes.size() || bytes.size() - member.local < 30 ||
        bytes.substr(member.local, 4) != std::string_view("PK\3\4", 4))
      return broken("has no local header");
    const uint64_t start =
        member.local + 30 + number(member.local + 26, 2) + number(member.local + 28, 2);
    if (start > bytes.size() || member.packed > bytes.size() - start)
      return broken("ends after the end of the file");
    const std::string_view packed = bytes.substr(start, member.packed);
    // Deflate packs at most 1032 to 1, so the file's size bounds what it may claim.
    total += member.size;
    if (member.size > member.packed * 1032 + 64 || total > kMaxBytes)
      return broken("declares a size that its data cannot have");
    std::string content;
    if (member.method == 0) {
      content = packed;
    } else if (member.method == 8) {
      content.resize(member.size);
      if (!inflateInto(packed, content))
        return broken("cannot be decompressed");
    } else {
      return broken(
          fmt::format("uses method {}, allowed: stored (0), deflated (8)", member.method));
    }
    if (content.size() != member.size)
      return broken("does not have its declared size");
    const uLong crc = crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size());
    if (crc != member.crc)
      return broken("is damaged: the CRC-32 does not match");
    return content;
  }

  /// Raw deflate of exactly content.size() bytes.
  static bool inflateInto(std::string_view packed, std::string &content) {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      return false;
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
    stream.next_out = reinterpret_cast<Bytef *>(content.data());
    size_t packedLeft = packed.size();
    size_t left = content.size();
    int status = Z_OK;
    // zlib counts in 32 bits.
    constexpr size_t kPiece = size_t{1} << 30;
    while (status == Z_OK) {
      const auto in = static_cast<uInt>(std::min(packedLeft, kPiece));
      const auto out = static_cast<uInt>(std::min(left, kPiece));
      stream.avail_in = in;
      stream.avail_out = out;
      status = inflate(&stream, Z_NO_FLUSH);
      packedLeft -= in - stream.avail_in;
      left -= out - stream.avail_out;
      if (stream.avail_in == in && stream.avail_out == out)
        break;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && left == 0;
  }

  std::string_view bytes;
  uint64_t total = 0;
};

} // namespace

std::variant<std::vector<Tensor>, Error> readNpz(std::string_view bytes) {
  return Archive(bytes).read();
}

namespace {

void add(std::string &bytes, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i, value >>= 8)
    bytes += static_cast<char>(value & 0xFF);
}

/// The fields that the local header and the central directory have in common.
std::string headerOf(const std::string &name, const std::string &content) {
  constexpr uint64_t kVersion = 20, kDate = 0x21; // 1980-01-01: the same tensors, the same bytes
  std::string bytes;
  add(bytes, kVersion, 2);
  add(bytes, 0, 6); // flags, method: stored, time
  add(bytes, kDate, 2);
  add(bytes, crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size()), 4);
  add(bytes, content.size(), 4);
  add(bytes, content.size(), 4);
  add(bytes, name.size(), 2);
  add(bytes, 0, 2); // extra field
  return bytes;
}

} // namespace

std::string writeNpz(const std::vector<Tensor> &tensors) {
  std::string bytes, directory;
  for (const Tensor &tensor : tensors) {
    const std::string name = tensor.name + ".npy", content = writeNpy(tensor),
                      header = headerOf(name, content);
    directory += std::string_view("PK\1\2\24\0", 6);
    directory += header;
    add(directory, 0, 10); // comment, disk, attributes
    add(directory, bytes.size(), 4);
    directory += name;
    bytes += std::string_view("PK\3\4", 4);
    bytes += header;
    bytes += name;
    bytes += content;
  }
  const size_t start = bytes.size();
  bytes += directory;
  bytes += std::string_view("PK\5\6\0\0\0\0", 8);
  add(bytes, tensors.size(), 2);
  add(bytes, tensors.size(), 2);
  add(bytes, directory.size(), 4);
  add(bytes, start, 4);
  add(bytes, 0, 2);
  return bytes;
}

} // namespace sluice::io
