#include "compiler/frontend/onnx/support_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend {
namespace {

/// Whether what stands for a spec may be no tensor.
bool takesAnyValue(const InputSpec &spec) { return spec.types == Types::Value; }
bool takesAnyValue(const OutputSpec &) { return false; }

/// "inputs: 'a', 'b' (optional)" as a sentence, since arity is checked from the same specs.
template <typename Spec>
std::string operandSentence(const char *what, const std::vector<Spec> &specs) {
  std::vector<std::string> words;
  for (const Spec &spec : specs) {
    std::vector<std::string> notes;
    if (spec.presence != Presence::Required)
      notes.push_back(spec.presence == Presence::Optional   ? "optional"
                      : spec.presence == Presence::Variadic ? "one or more"
                                                            : "zero or more");
    if (takesAnyValue(spec))
      notes.push_back("a tensor, a sequence or an optional");
    if (spec.presence != Presence::Refused)
      words.push_back(notes.empty() ? fmt::format("'{}'", spec.name)
                                    : fmt::format("'{}' ({})", spec.name, fmt::join(notes, "; ")));
  }
  return words.empty() ? fmt::format("no {}", what)
                       : fmt::format("{}: {}", what, fmt::join(words, ", "));
}

std::vector<std::string> sentences(const Operator &entry) {
  std::vector<std::string> out = {operandSentence("inputs", entry.inputs),
                                  operandSentence("outputs", entry.outputs)};
  for (const AttributeSpec &spec : entry.attributes)
    out.push_back(sentence(spec));
  for (const Requirement &requirement : allRequirements(entry))
    out.push_back(requirement.sentence);
  return out;
}

} // namespace

std::vector<SupportRow> supportTable(const std::string &op) {
  std::vector<SupportRow> rows;
  for (const auto &[key, versions] : operatorTable().entries()) {
    if (!op.empty() && key.second != op)
      continue;
    SupportRow *last = nullptr;
    for (auto version = versions.begin(); version != versions.end(); ++version) {
      auto next = std::next(version);
      int64_t until = next == versions.end() ? newestOpset(key.first) : next->first - 1;
      if (until < kMinOpset)
        continue;
      const Operator &entry = version->second;
      SupportRow row{key.first, key.second, std::max(version->first, kMinOpset),
                     until,     entry.form, sentences(entry)};
      if (last && last->form == row.form && last->requirements == row.requirements)
        last->lastOpset = until;
      else
        last = &rows.emplace_back(std::move(row));
    }
  }
  return rows;
}

namespace {

/// A cell of a Markdown table: | would end it.
std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

} // namespace

std::string supportMarkdown(const std::vector<SupportRow> &rows) {
  std::string out = "| operator | opsets | becomes | requires |\n|---|---|---|---|\n";
  for (const SupportRow &row : rows)
    out += fmt::format("| {}{}{} | {} to {} | {} | {} |\n", row.domain,
                       row.domain.empty() ? "" : ".", row.op, row.firstOpset, row.lastOpset,
                       cell(row.form), cell(fmt::format("{}", fmt::join(row.requirements, "; "))));
  return out;
}

std::string supportJson(const std::vector<SupportRow> &rows) {
  nlohmann::ordered_json operators = nlohmann::ordered_json::array();
  for (const SupportRow &row : rows)
    operators.push_back({{"domain", row.domain},
                         {"op", row.op},
                         {"opsets", {row.firstOpset, row.lastOpset}},
                         {"form", row.form},
                         {"requirements", row.requirements}});
  return nlohmann::ordered_json{{"schema", 1}, {"operators", operators}}.dump(2) + "\n";
}

} // namespace sluice::frontend
