// NumPy's array format, versions 1 to 3: a magic, a header that is a Python
// dictionary with three known keys, and the elements.
#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "tools/cli/io/elements.h"
#include "tools/cli/io/tensor.h"

namespace sluice::io {
namespace {

/// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (1, 5), }.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  bool parse() {
    if (!take('{'))
      return false;
    bool seen[3] = {};
    while (!take('}')) {
      const std::optional<std::string> key = string();
      if (!key || !take(':'))
        return false;
      const int index = *key == "descr"           ? 0
                        : *key == "fortran_order" ? 1
                        : *key == "shape"         ? 2
                                                  : -1;
      if (index < 0 || seen[index])
        return false;
      seen[index] = true;
      if (index == 0 ? !parseDescr() : index == 1 ? !parseOrder() : !parseShape())
        return false;
      take(',');
    }
    return seen[0] && seen[1] && seen[2];
  }

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;

private:
  void skip() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n'))
      rest.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (rest.empty() || rest[0] != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool word(std::string_view text) {
    skip();
    if (!rest.starts_with(text))
      return false;
    rest.remove_prefix(text.size());
    return true;
  }
  std::optional<std::string> string() {
    skip();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return std::nullopt;
    const size_t end = rest.find(rest[0], 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }
  bool parseDescr() {
    // A structured type is a list, not a string: not for us.
    const auto text = string();
    descr = text.value_or("");
    return text.has_value();
  }
  bool parseOrder() {
    fortran = word("True");
    return fortran || word("False");
  }
  bool parseShape() {
    if (!take('('))
      return false;
    while (!take(')')) {
      skip();
      int64_t extent = 0;
      const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
      if (result.ec != std::errc() || shape.size() == 64)
        return false;
      rest.remove_prefix(static_cast<size_t>(result.ptr - rest.data()));
      shape.push_back(extent);
      take(',');
    }
    return true;
  }

  std::string_view rest;
};

/// From column-major to row-major.
std::vector<uint8_t> reordered(const std::vector<int64_t> &shape, const std::vector<uint8_t> &data,
                               size_t element) {
  std::vector<uint8_t> out(data.size());
  const size_t rank = shape.size();
  std::vector<int64_t> index(rank, 0);
  for (size_t to = 0; to * element < data.size(); ++to) {
    size_t from = 0;
    for (size_t i = rank; i-- > 0;)
      from = from * static_cast<size_t>(shape[i]) + static_cast<size_t>(index[i]);
    std::copy_n(data.begin() + static_cast<ptrdiff_t>(from * element), element,
                out.begin() + static_cast<ptrdiff_t>(to * element));
    for (size_t i = rank; i-- > 0 && ++index[i] == shape[i];)
      index[i] = 0;
  }
  return out;
}

} // namespace

std::variant<Tensor, Error> readNpy(std::string_view bytes) {
  auto bad = [](std::string what) { return Error{"E0605", "not a valid .npy file: " + what}; };
  if (!bytes.starts_with(kNpyMagic))
    return bad("the magic bytes at the start are missing");
  if (bytes.size() < 12)
    return bad("the file ends inside the header");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  const size_t major = byte(6);
  if (major < 1 || major > 3)
    return bad(fmt::format("the version is {}, allowed: 1 to 3", major));
  const size_t start = major == 1 ? 10 : 12;
  const size_t length = byte(8) | byte(9) << 8 | (major == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
  if (length > bytes.size() - start)
    return bad("the file ends inside the header");
  HeaderParser header(bytes.substr(start, length));
  if (!header.parse())
    return bad("the header is not a dictionary of descr, fortran_order and shape");
  const std::optional<Encoding> encoding = encodingOf(header.descr);
  if (!encoding)
    return Error{"E0604",
                 fmt::format("the element type is '{}', allowed: {}", header.descr, kEncodings)};
  const int64_t count = elementCount(header.shape);
  if (count < 0)
    return bad(fmt::format("the shape ({}) has a negative dimension or more than 2^31 elements",
                           fmt::join(header.shape, ", ")));
  const std::string_view data = bytes.substr(start + length);
  const uint64_t expected = static_cast<uint64_t>(count) * encoding->bytes;
  if (data.size() != expected)
    return bad(fmt::format("the file has {} bytes of elements, the shape ({}) needs {}",
                           data.size(), fmt::join(header.shape, ", "), expected));
  Tensor tensor{"", typeOf(*encoding), header.shape, decode(data, *encoding)};
  if (header.fortran && header.shape.size() > 1)
    tensor.data = reordered(header.shape, tensor.data, format::elementBytes(tensor.type));
  return tensor;
}

std::string writeNpy(const Tensor &tensor) {
  constexpr std::string_view descr[] = {"",    "<f4", "<V2", "<f2", "<f8", "|i1", "|u1",
                                        "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "|b1"};
  std::string shape;
  for (int64_t extent : tensor.shape)
    shape += fmt::format("{},{}", extent, tensor.shape.size() > 1 ? " " : "");
  if (tensor.shape.size() > 1)
    shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descr[static_cast<size_t>(tensor.type)], shape);
  // The elements begin at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(kNpyMagic);
  bytes += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(tensor.data.begin(), tensor.data.end());
  return bytes;
}

} // namespace sluice::io
