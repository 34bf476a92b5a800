#include "compiler/conversion/rows/integer_differences.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/support/problem_text.h"

namespace sluice::rows {
namespace {

/// Nodes that have a note of their own.
constexpr size_t kShown = 5;

using Steps = std::optional<int64_t>;

std::string differenceText(const std::string &nodes, Steps steps) {
  if (!steps)
    return nodes + ": integers may differ from those of ONNX; no bound is known";
  return fmt::format("{}: integers may be up to {} step{} off those of ONNX", nodes, *steps,
                     *steps == 1 ? "" : "s");
}

/// The larger of two bounds.
Steps larger(Steps a, Steps b) { return a && b ? Steps(std::max(*a, *b)) : std::nullopt; }

} // namespace

bool isQuantising(std::string_view op) {
  return op == "QuantizeLinear" || op == "DynamicQuantizeLinear" || op == "QGemm" ||
         op.starts_with("QLinear");
}

void IntegerDifferences::add(const NodeRef &node, std::optional<int64_t> steps) {
  const auto known = nodes.try_emplace(node.index, Difference{node, steps}).first;
  known->second.steps = larger(known->second.steps, steps);
}

std::set<int64_t> IntegerDifferences::exactNodes() const {
  std::set<int64_t> found;
  for (const int64_t node : exact)
    if (!nodes.contains(node))
      found.insert(node);
  return found;
}

std::vector<std::string> IntegerDifferences::notes() const {
  std::vector<std::string> notes;
  Steps most = 0;
  for (const auto &[index, one] : nodes) {
    if (notes.size() < kShown)
      notes.push_back(differenceText(nodeText(one.node), one.steps));
    else
      most = larger(most, one.steps);
  }
  if (const size_t others = nodes.size() - notes.size(); others > 0)
    notes.push_back(
        differenceText(fmt::format("{} more node{}", others, others == 1 ? "" : "s"), most));
  return notes;
}

} // namespace sluice::rows
