#include "compiler/frontend/onnx/model_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

namespace sluice::frontend {
namespace {

/// Protobuf's own limit on one message; larger models keep their weights in external data.
constexpr int64_t kMaxFileBytes = std::numeric_limits<int32_t>::max();
/// So much of a stream is examined as it comes: what is no model may have no end.
constexpr size_t kBeginning = 4096;
/// Levels of nested messages. A graph in a node in a graph takes three.
constexpr int kMaxNesting = 100;

/// The protobuf wire format, as far as finding out where a file is broken needs it.
class WireReader {
public:
  explicit WireReader(std::string_view bytes) : bytes(bytes) {}

  size_t position() const { return at; }
  bool done() const { return at == bytes.size(); }

  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && at < bytes.size(); shift += 7) {
      auto byte = static_cast<unsigned char>(bytes[at++]);
      value |= shift < 64 ? uint64_t{byte & 0x7FU} << shift : 0;
      if (!(byte & 0x80))
        return value;
    }
    return std::nullopt;
  }
  bool skip(uint64_t count) {
    if (count > bytes.size() - at)
      return false;
    at += count;
    return true;
  }
  uint64_t left() const { return bytes.size() - at; }

private:
  std::string_view bytes;
  size_t at = 0;
};

bool looksLikeText(std::string_view bytes) {
  for (char c : bytes.substr(0, 256)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t')
      return false;
  }
  return true;
}

struct Fault {
  std::string message;
  bool cut = true; ///< more bytes might mend it
};

/// What is wrong with the outermost level of the wire format. Deepest nesting of
/// length-delimited fields cannot be told from strings, so only this level is examined: it is
/// where a cut shows.
std::optional<Fault> findFault(std::string_view bytes) {
  WireReader reader(bytes);
  while (!reader.done()) {
    size_t start = reader.position();
    std::optional<uint64_t> tag = reader.varint();
    if (!tag)
      return Fault{fmt::format(
          "the file ends inside a field tag at byte {} of {}; it is truncated or damaged", start,
          bytes.size())};
    Fault noField{
        fmt::format("byte {} does not start a protobuf field; this is not an ONNX model", start),
        false};
    if (*tag >> 3 == 0) // they count from 1
      return noField;
    bool complete = true;
    switch (*tag & 7) {
    case 0:
      complete = reader.varint().has_value();
      break;
    case 1:
      complete = reader.skip(8);
      break;
    case 2: {
      std::optional<uint64_t> length = reader.varint();
      if (length && *length > reader.left())
        return Fault{fmt::format("field {} at byte {} claims {} bytes, but only {} follow; the "
                                 "file is truncated or damaged",
                                 *tag >> 3, start, *length, reader.left())};
      complete = length && reader.skip(*length);
      break;
    }
    case 5:
      complete = reader.skip(4);
      break;
    default:
      return noField;
    }
    if (!complete)
      return Fault{fmt::format(
          "field {} at byte {} is incomplete; the file is truncated or damaged", *tag >> 3, start)};
  }
  return std::nullopt;
}

std::string whyMalformed(std::string_view bytes) {
  if (looksLikeText(bytes))
    return "the file is text, not an ONNX model (a binary protobuf)";
  const std::optional<Fault> fault = findFault(bytes);
  return fault
             ? fault->message
             : fmt::format(
                   "the protobuf is malformed inside a field, or nests messages more than {} deep",
                   kMaxNesting);
}

std::unique_ptr<onnx::ModelProto> tooLarge(int64_t bytes, bool exact, Report &report) {
  report
      .add("E0103", fmt::format("the model has {}{} bytes; at most {} are allowed",
                                exact ? "" : "at least ", bytes, kMaxFileBytes))
      .fixes.push_back(fix("store the weights as external data"));
  return nullptr;
}

} // namespace

std::unique_ptr<onnx::ModelProto> parseModel(std::string_view bytes, Report &report) {
  if (bytes.empty()) {
    report.add("E0102", "the file is empty");
    return nullptr;
  }
  if (static_cast<int64_t>(bytes.size()) > kMaxFileBytes)
    return tooLarge(static_cast<int64_t>(bytes.size()), true, report);
  google::protobuf::LogSilencer silent;
  google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  stream.SetRecursionLimit(kMaxNesting);
  auto model = std::make_unique<onnx::ModelProto>();
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    report.add("E0102", whyMalformed(bytes));
    return nullptr;
  }
  if (!model->has_graph()) {
    report.add("E0102", "the model has no graph; the file is truncated, or not an ONNX model");
    return nullptr;
  }
  return model;
}

std::unique_ptr<onnx::ModelProto> readModelFile(const std::string &path, Report &report) {
  bool isStdin = path == "-";
  // A pipe can be read once, but a model may be compiled in several ways.
  static std::optional<std::string> standardInput;
  if (isStdin && standardInput)
    return parseModel(*standardInput, report);
  struct Descriptor {
    int number;
    bool owned;
    ~Descriptor() {
      if (owned && number >= 0)
        ::close(number);
    }
  } file{isStdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC), !isStdin};
  std::string name = isStdin ? "standard input" : inQuotes(path);
  auto cannot = [&](std::string_view what, int error) {
    report.add("E0101", fmt::format("cannot {} {}: {}", what, name, std::strerror(error)));
    return nullptr;
  };
  if (file.number < 0)
    return cannot("open", errno);
  struct stat status{};
  if (::fstat(file.number, &status) != 0)
    return cannot("read", errno);
  if (S_ISDIR(status.st_mode)) {
    report.add("E0101", fmt::format("{} is a directory, not a model file", name));
    return nullptr;
  }
  if (S_ISREG(status.st_mode) && status.st_size > kMaxFileBytes)
    return tooLarge(status.st_size, true, report);

  std::string bytes;
  size_t used = 0;
  const bool regular = S_ISREG(status.st_mode);
  if (regular)
    bytes.resize(static_cast<size_t>(status.st_size) + 1); // one more, to see the end of the file
  while (true) {
    if (used == bytes.size())
      bytes.resize(bytes.size() + (size_t{1} << 20));
    ssize_t count = ::read(file.number, bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return cannot("read", errno);
    if (count == 0)
      break;
    const bool examine = !regular && used < kBeginning;
    used += static_cast<size_t>(count);
    if (examine)
      if (const auto fault = findFault(std::string_view(bytes).substr(0, used));
          fault && !fault->cut) {
        report.add("E0102", fault->message);
        return nullptr;
      }
    if (static_cast<int64_t>(used) > kMaxFileBytes)
      return tooLarge(static_cast<int64_t>(used), false, report);
  }
  bytes.resize(used);
  if (!isStdin)
    return parseModel(bytes, report);
  standardInput = std::move(bytes);
  return parseModel(*standardInput, report);
}

} // namespace sluice::frontend
