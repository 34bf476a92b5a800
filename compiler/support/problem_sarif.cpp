#include "compiler/support/problem_sarif.h"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "compiler/support/problem_text.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

/// A path as a URI reference: what may not stand in one as %XX.
std::string uri(const std::string &path) {
  if (path == "-")
    return "stdin";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && std::isalnum(byte) != 0;
    out += plain || std::string_view("/._-~").find(c) != std::string_view::npos
               ? std::string(1, c)
               : fmt::format("%{:02X}", byte);
  }
  return out;
}

Json artifact(const std::string &path) { return {{"artifactLocation", {{"uri", uri(path)}}}}; }

/// "model.py:12" as a physical location.
Json line(const std::string &source) {
  const size_t colon = source.rfind(':');
  Json location = artifact(source.substr(0, colon));
  int number = 0;
  if (colon != std::string::npos)
    std::from_chars(source.data() + colon + 1, source.data() + source.size(), number);
  if (number > 0)
    location["region"] = {{"startLine", number}};
  return location;
}

Json locationOf(const NodeRef *node, const std::string &file) {
  Json location = {{"physicalLocation", artifact(file)}};
  if (!node)
    return location;
  if (!node->source.empty())
    location["physicalLocation"] = line(node->source);
  if (node->index >= 0 || !node->name.empty())
    location["logicalLocations"] = Json::array(
        {{{"name", node->name}, {"fullyQualifiedName", nodeText(*node)}, {"kind", "member"}}});
  return location;
}

Json related(const ChainStep &step, size_t id, const std::string &file) {
  Json location = locationOf(&step.node, file);
  location["id"] = id;
  location["message"] = {{"text", chainText(step)}};
  return location;
}

Json resultOf(const Problem &problem, size_t rule, const std::string &file) {
  std::string text = problem.message;
  for (const std::string &note : problem.notes)
    text += "\n" + note;
  for (const Fix &fix : problem.fixes)
    text += "\nhelp: " + fixText(fix);
  Json result = {
      {"ruleId", problem.code},
      {"ruleIndex", rule},
      {"level", "error"},
      {"analysisTarget", {{"uri", uri(file)}}},
      {"message", {{"text", text}}},
      {"locations", Json::array({locationOf(problem.node ? &*problem.node : nullptr, file)})}};
  if (!problem.chain.empty()) {
    Json chain = Json::array();
    for (const ChainStep &step : problem.chain)
      chain.push_back(related(step, chain.size(), file));
    result["relatedLocations"] = chain;
  }
  if (const Json data = problemJson(problem); !problem.fixes.empty() || !problem.rule.empty())
    result["properties"] = {{"rule", data["rule"]}, {"fixes", data["fixes"]}};
  return result;
}

} // namespace

Json problemsSarif(const Problems &problems, const std::string &file, const std::string &version,
                   const std::function<std::string_view(std::string_view)> &titleOf) {
  Json results = Json::array();
  Json rules = Json::array();
  std::map<std::string, size_t> indices;
  for (const Problem &problem : problems) {
    const auto [index, isNew] = indices.try_emplace(problem.code, rules.size());
    if (isNew)
      rules.push_back({{"id", problem.code},
                       {"shortDescription", {{"text", titleOf(problem.code)}}},
                       {"help", {{"text", "sluice explain " + problem.code}}}});
    results.push_back(resultOf(problem, index->second, file));
  }
  const Json driver = {{"name", "sluice"}, {"version", version}, {"rules", rules}};
  const Json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
              {"version", "2.1.0"},
              {"runs", Json::array({run})}};
  makeValidUtf8(log);
  return log;
}

} // namespace sluice
