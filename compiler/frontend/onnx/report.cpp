#include "compiler/frontend/onnx/report.h"

#include <fmt/format.h>

#include "compiler/support/problem_text.h"

namespace sluice::frontend {

namespace {

Reason reasonOf(ErrorCode::Kind kind) {
  switch (kind) {
  case ErrorCode::Kind::Refused:
    return Refused();
  case ErrorCode::Kind::WrongShapes:
    return WrongShapes();
  case ErrorCode::Kind::NotSupported:
    return NotSupported();
  case ErrorCode::Kind::WrongOption:
    return WrongOption();
  case ErrorCode::Kind::InternalError:
    return InternalError();
  }
  return InternalError();
}

} // namespace

Problem &Report::add(ErrorCode code, std::string message) {
  Problem &problem = problems.emplace_back();
  problem.code = code.text;
  problem.reason = reasonOf(code.kind);
  problem.message = std::move(message);
  return problem;
}

Problem &Report::add(ErrorCode code, const NodeRef &node, std::string message) {
  Problem &problem = add(code, std::move(message));
  problem.node = node;
  return problem;
}

Fix fix(std::string text, std::optional<std::string> flag) {
  Fix out;
  out.text = std::move(text);
  out.flag = std::move(flag);
  return out;
}

std::string inQuotes(std::string_view text) {
  constexpr size_t kMostBytes = 200;
  return fmt::format("'{}{}'", printable(text.substr(0, kMostBytes)),
                     text.size() > kMostBytes ? "..." : "");
}

std::string shapeText(const Shape &shape) { return fmt::format("[{}]", fmt::join(shape, " ")); }

std::string listText(const std::vector<std::string> &names) {
  std::vector<std::string> words;
  for (const std::string &name : names)
    words.push_back(inQuotes(name));
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string alternatives(const std::vector<std::string> &words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

int64_t elementCount(const Shape &shape, int64_t limit) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return -1;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (count > limit / extent)
      return -1;
    count *= extent;
  }
  return empty ? 0 : count;
}

} // namespace sluice::frontend
