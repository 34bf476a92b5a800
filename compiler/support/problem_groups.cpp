#include "compiler/support/problem_groups.h"

#include <map>
#include <tuple>

namespace sluice {
namespace {

/// What problems of one group have in common.
using Key = std::tuple<std::string, std::string, std::string, std::vector<std::string>>;

Key keyOf(const Problem &problem) {
  std::vector<std::string> rest;
  // The notes of a layout problem are the shapes of its operands.
  if (problem.rule.empty())
    rest = problem.notes;
  for (const Fix &fix : problem.fixes)
    rest.push_back(fix.text + (fix.verified ? "1" : "0") + fix.flag.value_or(""));
  return {problem.code, problem.rule, problem.message, std::move(rest)};
}

} // namespace

std::vector<ProblemGroup> groupProblems(const Problems &problems) {
  std::vector<ProblemGroup> groups;
  std::map<Key, size_t> known;
  for (const Problem &problem : problems) {
    if (problem.node) {
      const auto [group, isNew] = known.try_emplace(keyOf(problem), groups.size());
      if (!isNew) {
        groups[group->second].others.push_back(&*problem.node);
        continue;
      }
    }
    groups.push_back({&problem, {}});
  }
  return groups;
}

} // namespace sluice
