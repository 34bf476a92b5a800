#include "compiler/frontend/onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "compiler/frontend/onnx/report.h"

namespace sluice::frontend {
namespace {

namespace fs = std::filesystem;

struct Reference {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

std::optional<std::string> parse(const onnx::TensorProto &tensor, Reference &reference) {
  bool located = false;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    const std::string &key = entry.key();
    const std::string &text = entry.value();
    if (key == "location") {
      reference.location = text;
      located = true;
    } else if (key == "offset" || key == "length") {
      uint64_t number = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size())
        return fmt::format("external data has {} {}; expected a number of bytes", key,
                           inQuotes(text));
      if (key == "offset")
        reference.offset = number;
      else
        reference.length = number;
    } else if (key != "checksum") { // informative; what is read is checked by its length
      return fmt::format(
          "unknown key {} in external data; allowed keys: location, offset, length, checksum",
          inQuotes(key));
    }
  }
  if (!located)
    return "external data has no location";
  return std::nullopt;
}

/// Whether `path` is `folder` or below it; both canonical.
bool isInside(const fs::path &path, const fs::path &folder) {
  auto [end, _] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

/// The file of `location`, or the reason why it is refused.
std::optional<std::string> resolve(const std::string &location, const std::string &folder,
                                   fs::path &file) {
  fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos)
    return fmt::format("external data location {} is not a file name", inQuotes(location));
  if (relative.is_absolute())
    return fmt::format(
        "external data location {} is absolute; it must be relative to the model's folder",
        inQuotes(location));
  if (std::any_of(relative.begin(), relative.end(), [](const fs::path &p) { return p == ".."; }))
    return fmt::format(
        "external data location {} contains '..'; it must stay in the model's folder",
        inQuotes(location));
  if (folder.empty())
    return fmt::format(
        "external data location {} has no folder: the model came from standard input",
        inQuotes(location));
  std::error_code error;
  fs::path root = fs::canonical(folder, error);
  if (error)
    return fmt::format("cannot open the external data folder {}: {}", inQuotes(folder),
                       error.message());
  file = fs::canonical(root / relative, error);
  if (error)
    return fmt::format("cannot open external data {}: {}; --external-data gives its folder",
                       inQuotes(location), error.message());
  if (!isInside(file, root))
    return fmt::format("external data location {} is a link that leaves the model's folder",
                       inQuotes(location));
  if (!fs::is_regular_file(file, error))
    return fmt::format("external data {} is not a regular file", inQuotes(location));
  return std::nullopt;
}

} // namespace

std::optional<std::string> ExternalData::read(const onnx::TensorProto &tensor, uint64_t bytes,
                                              std::string &contents) const {
  Reference reference;
  fs::path file;
  if (auto reason = parse(tensor, reference))
    return reason;
  if (auto reason = resolve(reference.location, folder, file))
    return reason;
  std::error_code error;
  uint64_t size = fs::file_size(file, error);
  if (error)
    return fmt::format("cannot read external data {}: {}", inQuotes(reference.location),
                       error.message());
  if (reference.offset > size)
    return fmt::format("external data starts at byte {} of {}, but the file has {} bytes",
                       reference.offset, inQuotes(reference.location), size);
  uint64_t length = reference.length.value_or(size - reference.offset);
  if (length > size - reference.offset)
    return fmt::format("external data needs {} bytes from byte {} of {}, but the file has {} bytes",
                       length, reference.offset, inQuotes(reference.location), size);
  if (length != bytes)
    return fmt::format("external data has {} bytes, but the type and shape need {}", length, bytes);
  contents.resize(bytes);
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(reference.offset));
  stream.read(contents.data(), static_cast<std::streamsize>(bytes));
  if (!stream || static_cast<uint64_t>(stream.gcount()) != bytes)
    return fmt::format("cannot read external data {}", inQuotes(reference.location));
  return std::nullopt;
}

} // namespace sluice::frontend
