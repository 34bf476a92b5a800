#include "compiler/support/problem_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

/// "[4! 5]", the axis marked ! is the data dimension.
std::string layoutText(const std::vector<int64_t> &shape, std::optional<int64_t> dataDim) {
  std::string text;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    text += fmt::format("{}{}{}", axis == 0 ? "" : " ", shape[axis],
                        dataDim == static_cast<int64_t>(axis) ? "!" : "");
  return "[" + text + "]";
}

/// The first of several nodes, and how many more there are.
std::string othersText(const std::vector<const NodeRef *> &nodes) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(nodes.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + nodeText(*nodes[i]);
  if (nodes.size() > kShown)
    text += fmt::format(", and {} more (--verbose lists them)", nodes.size() - kShown);
  return text;
}

/// Whether there is a node, not only a line of source.
bool named(const NodeRef &node) { return node.index >= 0 || !node.name.empty(); }

Json nodeJson(const NodeRef &node) {
  return {{"index", node.index},
          {"name", node.name},
          {"op", node.op},
          {"source", node.source.empty() ? Json(nullptr) : Json(node.source)}};
}

/// What JSON cannot hold as it is becomes U+FFFD when dumped; make it valid here
/// so that every caller may dump strictly.
std::string validUtf8(const std::string &text) {
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

/// Bytes of the UTF-8 character that `text` begins with; 0 if it does not.
size_t characterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80   ? 1
                        : byte(0) < 0xC2 ? 0 // a continuation, or overlong
                        : byte(0) < 0xE0 ? 2
                        : byte(0) < 0xF0 ? 3
                        : byte(0) < 0xF5 ? 4
                                         : 0;
  if (length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  const bool overlong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool noCharacter =
      (byte(0) == 0xED && byte(1) > 0x9F) || (byte(0) == 0xF4 && byte(1) > 0x8F);
  return overlong || noCharacter ? 0 : length;
}

/// Whether a character, in UTF-8, acts on a terminal: C0 and C1 controls, delete,
/// and what changes the direction of the text or ends a line.
bool controls(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1)
    return byte(0) < 0x20 || byte(0) == 0x7F;
  if (character.size() == 2)
    return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3 || byte(0) != 0xE2)
    return false;
  return (byte(1) == 0x80 &&
          (byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE))) ||
         (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
}

} // namespace

std::string nodeText(const NodeRef &node) {
  std::string text = node.index < 0 ? "node" : fmt::format("node {}", node.index);
  if (!node.name.empty())
    text += fmt::format(" \"{}\"", node.name);
  if (!node.op.empty())
    text += fmt::format(" ({})", node.op);
  return text;
}

std::string chainText(const ChainStep &step) {
  std::string text;
  if (named(step.node))
    text += nodeText(step.node) + ": ";
  else if (!step.node.source.empty())
    text += step.node.source + ": ";
  if (!step.tensor.empty())
    text += fmt::format("'{}' ", step.tensor);
  text += layoutText(step.shape, step.dataDim);
  return step.why.empty() ? text : text + ", " + step.why;
}

std::string cyclesText(uint64_t cycles) {
  return fmt::format("{} cycle{}", cycles, cycles == 1 ? "" : "s");
}

std::string fixText(const Fix &fix) {
  std::vector<std::string> details;
  if (fix.flag && fix.text.find(*fix.flag) == std::string::npos)
    details.push_back(*fix.flag);
  if (fix.verified)
    details.emplace_back("verified");
  if (fix.cycles && fix.text.find(cyclesText(*fix.cycles)) == std::string::npos)
    details.push_back(cyclesText(*fix.cycles));
  if (fix.extraCycles.value_or(0) != 0)
    details.push_back(fmt::format("{} more", *fix.extraCycles));
  if (fix.unmeasured)
    details.emplace_back("price not measured");
  return details.empty() ? fix.text : fmt::format("{} ({})", fix.text, fmt::join(details, ", "));
}

void makeValidUtf8(Json &value) {
  if (value.is_string())
    value = validUtf8(value.get<std::string>());
  else if (value.is_structured())
    for (Json &item : value)
      makeValidUtf8(item);
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = characterLength(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (length > 0 && !controls(character))
      out += character;
    else
      for (const char byte : character)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    text.remove_prefix(character.size());
  }
  return out;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string problemText(const Problem &problem, const std::string &file, bool color) {
  return problemText(ProblemGroup{&problem, {}}, file, color);
}

std::string problemText(const ProblemGroup &group, const std::string &file, bool color) {
  const Problem &problem = *group.first;
  const char *red = color ? "\033[1;31m" : "";
  const char *blue = color ? "\033[1;34m" : "";
  const char *reset = color ? "\033[0m" : "";
  std::string text = fmt::format(
      "{}error[{}]{}: {}{}\n", red, problem.code, reset, printable(problem.message),
      group.others.empty() ? "" : fmt::format(", at {} nodes", group.others.size() + 1));
  auto line = [&](std::string_view label, const std::string &body) {
    text += fmt::format("{}{}{} {}\n", blue, label, reset, printable(body));
  };
  if (problem.node && !named(*problem.node) && !problem.node->source.empty())
    line("  -->", problem.node->source);
  else if (problem.node)
    line("  -->", (file.empty() ? "" : file + ": ") + nodeText(*problem.node));
  else if (!file.empty())
    line("  -->", file);
  if (problem.node && named(*problem.node) && !problem.node->source.empty())
    line("  -->", problem.node->source);
  // Of a refusal by a rule: the operands, then the rule.
  for (const std::string &note : problem.notes)
    if (problem.rule.empty())
      line(" note:", note);
    else if (note.starts_with("rule "))
      line(" rule", note.substr(5));
    else
      line("   | ", note);
  if (!problem.chain.empty())
    text += fmt::format(" {}chain:{}\n", blue, reset);
  for (const ChainStep &step : problem.chain)
    line("  ", chainText(step));
  if (!group.others.empty())
    line(" also:", othersText(group.others));
  for (const Fix &fix : problem.fixes)
    line(" help:", fixText(fix));
  return text;
}

Json problemJson(const Problem &problem) {
  Json chain = Json::array();
  for (const ChainStep &step : problem.chain)
    chain.push_back({{"node", nodeJson(step.node)},
                     {"tensor", step.tensor},
                     {"shape", step.shape},
                     {"data_dim", step.dataDim ? Json(*step.dataDim) : Json(nullptr)},
                     {"why", step.why}});
  Json fixes = Json::array();
  for (const Fix &fix : problem.fixes)
    fixes.push_back({{"text", fix.text},
                     {"flag", fix.flag ? Json(*fix.flag) : Json(nullptr)},
                     {"verified", fix.verified},
                     {"cycles", fix.cycles ? Json(*fix.cycles) : Json(nullptr)},
                     {"extra_cycles", fix.extraCycles ? Json(*fix.extraCycles) : Json(nullptr)}});
  Json result = {{"code", problem.code},
                 {"rule", problem.rule.empty() ? Json(nullptr) : Json(problem.rule)},
                 {"node", problem.node ? nodeJson(*problem.node) : Json(nullptr)},
                 {"message", problem.message},
                 {"notes", problem.notes},
                 {"chain", chain},
                 {"fixes", fixes}};
  makeValidUtf8(result);
  return result;
}

} // namespace sluice
