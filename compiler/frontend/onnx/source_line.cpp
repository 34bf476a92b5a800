#include "compiler/frontend/onnx/source_line.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

#include "compiler/frontend/onnx/unknown_field.h"

namespace sluice::frontend {
namespace {

/// NodeProto.metadata_props, newer than libonnx.
constexpr int kNodeMetadata = 9;
constexpr std::string_view kStackTrace = "pkg.torch.onnx.stack_trace";

/// "file:line", or empty if `digits` is no number of a line.
std::string frame(std::string_view file, std::string_view digits) {
  constexpr size_t kMostDigits = 9;
  const bool number = !digits.empty() && digits.size() <= kMostDigits &&
                      std::all_of(digits.begin(), digits.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  return file.empty() || !number ? "" : std::string(file) + ":" + std::string(digits);
}

/// `  File "model.py", line 12, in forward`
std::string pythonFrame(std::string_view line) {
  const size_t open = line.find("File \"");
  const size_t close = line.rfind("\", line ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 6)
    return "";
  const std::string_view digits = line.substr(close + 8);
  return frame(line.substr(open + 6, close - open - 6), digits.substr(0, digits.find(',')));
}

/// `model.py(12): forward`
std::string torchScriptFrame(std::string_view line) {
  const size_t close = line.find("): ");
  const size_t open = line.rfind('(', close);
  if (close == std::string_view::npos || open == std::string_view::npos)
    return "";
  return frame(line.substr(0, open), line.substr(open + 1, close - open - 1));
}

/// The frame to show, of frames from the innermost on.
std::string ownFrame(const std::vector<std::string> &frames) {
  for (const std::string &one : frames)
    if (one.find("site-packages/") == std::string::npos &&
        one.find("dist-packages/") == std::string::npos)
      return one;
  return frames.empty() ? "" : frames.front();
}

template <typename Parse>
std::vector<std::string> framesOf(const std::string &text, const Parse &parse) {
  std::vector<std::string> frames;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (std::string one = parse(line); !one.empty())
      frames.push_back(std::move(one));
  return frames;
}

} // namespace

std::string sourceLine(const onnx::NodeProto &node) {
  for (const std::string &bytes : unknownField(node.unknown_fields(), kNodeMetadata)) {
    onnx::StringStringEntryProto entry;
    if (!entry.ParseFromString(bytes) || entry.key() != kStackTrace)
      continue;
    std::vector<std::string> frames = framesOf(entry.value(), pythonFrame);
    std::reverse(frames.begin(), frames.end());
    return ownFrame(frames);
  }
  return ownFrame(framesOf(node.doc_string(), torchScriptFrame));
}

} // namespace sluice::frontend
