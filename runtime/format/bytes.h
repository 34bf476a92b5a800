// Little-endian byte streams. The reader never goes past its end: once a read
// does not fit it stays failed and hands out zeros.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::format {

class ByteWriter {
public:
  template <typename T> void number(T value) {
    for (size_t i = 0; i < sizeof(T); ++i)
      bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
  }
  template <typename Range> void numbers(const Range &values) {
    for (auto value : values)
      number(value);
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    bytes.insert(bytes.end(), value.begin(), value.end());
  }

  std::vector<uint8_t> bytes;
};

class ByteReader {
public:
  explicit ByteReader(std::span<const uint8_t> bytes) : rest(bytes) {}

  template <typename T> T number() {
    if (!take(sizeof(T)))
      return T{};
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value |= static_cast<uint64_t>(taken[i]) << (8 * i);
    return static_cast<T>(value);
  }

  /// `count` numbers; allocates only if the bytes are there.
  template <typename T> std::vector<T> numbers(uint64_t count) {
    std::vector<T> values;
    if (count > rest.size() / sizeof(T)) {
      bad = true;
      return values;
    }
    values.resize(count);
    for (T &value : values)
      value = number<T>();
    return values;
  }

  /// A count of items that take at least `itemBytes` each; 0 and failed if the
  /// rest cannot hold that many, so that callers may allocate what it says.
  uint32_t count(size_t itemBytes) {
    const auto value = number<uint32_t>();
    if (value > rest.size() / itemBytes) {
      bad = true;
      return 0;
    }
    return value;
  }

  std::string text() {
    const uint32_t size = count(1);
    if (!take(size))
      return {};
    return {reinterpret_cast<const char *>(taken.data()), taken.size()};
  }

  /// What was read is nothing that can be there.
  void fail() { bad = true; }
  bool failed() const { return bad; }
  bool atEnd() const { return rest.empty(); }

private:
  bool take(size_t size) {
    if (bad || size > rest.size()) {
      bad = true;
      return false;
    }
    taken = rest.first(size);
    rest = rest.subspan(size);
    return true;
  }

  std::span<const uint8_t> rest;
  std::span<const uint8_t> taken;
  bool bad = false;
};

} // namespace sluice::format
