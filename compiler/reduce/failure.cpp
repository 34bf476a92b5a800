#include "compiler/reduce/failure.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace sluice::reduce {
namespace {

/// Whether a word is the same in the messages about all models: it has no digit, bracket or sign,
/// and is no number that is none.
bool isOfAllModels(std::string_view word) {
  return !word.empty() && word != "nan" && word != "-nan" && word != "inf" && word != "-inf" &&
         std::ranges::all_of(word, [](char c) {
           return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '\'';
         });
}

Failure::Kind kindOf(const Problem &problem) {
  return problem.isFor<WrongProgram>()                          ? Failure::Kind::Wrong
         : isOfEngines(problem)                                 ? Failure::Kind::Engines
         : problem.isFor<WrongOption>()                         ? Failure::Kind::Option
         : isFault(problem) || problem.isFor<LacksHostMemory>() ? Failure::Kind::Fault
                                                                : Failure::Kind::Error;
}

/// The words of a message without names and numbers.
std::string wordsOf(std::string_view message) {
  std::string plain, words;
  bool isQuoted = false;
  for (const char c : message) {
    const bool isQuote = c == '\'' || c == '"';
    isQuoted = isQuoted != isQuote;
    plain += isQuoted || isQuote ? '0' : c;
  }
  for (size_t at = 0; at < plain.size();) {
    const size_t end = std::min(plain.find_first_of(" ,;:()", at), plain.size());
    const std::string_view word = std::string_view(plain).substr(at, end - at);
    if (isOfAllModels(word))
      words += fmt::format("{} ", word);
    at = end + 1;
  }
  return words;
}

} // namespace

bool Failure::isLike(const Failure &other) const {
  return std::tie(kind, code, rule, op, signal, stage) ==
             std::tie(other.kind, other.code, other.rule, other.op, other.signal, other.stage) &&
         wordsOf(message) == wordsOf(other.message);
}

std::string Failure::text() const {
  const std::string node = op.empty() ? "" : " at " + op;
  const std::string when = stage.empty() ? "" : fmt::format(" in stage {}", stage);
  switch (kind) {
  case Kind::Error:
  case Kind::Option:
  case Kind::Fault:
  case Kind::Engines:
    return code + (rule.empty() ? "" : fmt::format(" ({})", rule)) + node;
  case Kind::Wrong:
    return "wrong value" + node;
  case Kind::Crash:
    return signal + when;
  case Kind::Timeout:
    return "no end" + when;
  }
  return "";
}

std::string Failure::name() const {
  return kind == Kind::Wrong     ? "wrong"
         : kind == Kind::Crash   ? "crash"
         : kind == Kind::Timeout ? "timeout"
                                 : code;
}

Failure failureOf(const Problem &problem) {
  Failure failure;
  failure.kind = kindOf(problem);
  failure.code = problem.code;
  failure.rule = problem.rule;
  failure.message = problem.message;
  const auto add = [&](const NodeRef &node) {
    if (node.index >= 0 && std::ranges::find(failure.nodes, node.index) == failure.nodes.end())
      failure.nodes.push_back(node.index);
  };
  if (problem.node) {
    failure.op = problem.node->op;
    add(*problem.node);
  }
  for (const ChainStep &step : problem.chain)
    add(step.node);
  return failure;
}

Failure::Kind kindNamed(std::string_view word) {
  static const std::map<std::string_view, Failure::Kind> kinds{
      {"wrong", Failure::Kind::Wrong},   {"E0498", Failure::Kind::Wrong},
      {"crash", Failure::Kind::Crash},   {"timeout", Failure::Kind::Timeout},
      {"E0607", Failure::Kind::Engines}, {"E0608", Failure::Kind::Engines},
      {"E0614", Failure::Kind::Engines}};
  const auto found = kinds.find(word);
  return found == kinds.end() ? Failure::Kind::Error : found->second;
}

} // namespace sluice::reduce
