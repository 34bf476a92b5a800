#include "compiler/conversion/loops/pin_bodies.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "llvm/ADT/EquivalenceClasses.h"

namespace sluice::loops {
namespace {

/// Bodies, and behind them families, in sets that have to agree about who has which position. A set
/// is named by one of its members.
class Agreeing {
public:
  explicit Agreeing(const rows::Program &program)
      : bodies(static_cast<uint32_t>(program.bodies.size())),
        count(bodies + static_cast<uint32_t>(program.families.size())) {
    for (uint32_t member = 0; member < count; ++member)
      sets.insert(member);
    for (uint32_t b = 0; b < bodies; ++b) {
      for (const rows::Read &read : program.bodies[b].reads)
        if (!read.all)
          sets.unionSets(b, bodies + read.family);
      for (const rows::Write &write : program.bodies[b].writes)
        if (write.family && !write.fold && !write.placed())
          sets.unionSets(b, bodies + *write.family);
    }
  }

  [[nodiscard]] uint32_t members() const { return count; }
  [[nodiscard]] uint32_t ofBody(uint32_t body) const { return sets.getLeaderValue(body); }
  [[nodiscard]] uint32_t ofFamily(uint32_t family) const {
    return sets.getLeaderValue(bodies + family);
  }

private:
  const uint32_t bodies, count;
  llvm::EquivalenceClasses<uint32_t> sets;
};

/// Nodes that rows of a body come from.
std::set<uint32_t> nodesOf(const rows::Body &body) {
  std::set<uint32_t> nodes;
  for (const rows::Row &row : body.trip.rows)
    if (row.kind == rows::RowKind::Linear || row.kind == rows::RowKind::Vector)
      nodes.insert(row.nodes.begin(), row.nodes.end());
  return nodes;
}

bool folds(const rows::Body &body) {
  return std::ranges::any_of(body.writes,
                             [](const rows::Write &write) { return write.fold.has_value(); });
}

} // namespace

Problems pinBodies(rows::Program &program, const std::vector<plan::Pin> &pins) {
  Problems problems;
  if (pins.empty())
    return problems;
  std::vector<bool> hasRows(program.nodes.size());
  for (const rows::Body &body : program.bodies)
    for (const uint32_t node : nodesOf(body))
      hasRows[node] = true;
  const plan::NodeCores cores = plan::coresOfNodes(program.nodes, hasRows, pins, problems);
  if (!problems.empty())
    return problems;

  const uint32_t all = (1U << program.geometry.cores) - 1;
  const Agreeing agreeing(program);
  std::vector<uint32_t> masks(agreeing.members(), all);
  std::vector<std::set<uint32_t>> kept(agreeing.members()); // nodes that are pinned
  std::vector<bool> merges(agreeing.members());
  for (uint32_t b = 0; b < program.bodies.size(); ++b) {
    const uint32_t group = agreeing.ofBody(b);
    merges[group] = merges[group] || folds(program.bodies[b]);
    for (const uint32_t node : nodesOf(program.bodies[b]))
      if ((cores[node] & all) != all) {
        masks[group] &= cores[node];
        kept[group].insert(node);
      }
  }
  for (uint32_t group = 0; group < masks.size(); ++group) {
    if (masks[group] != 0 && !(merges[group] && masks[group] != all))
      continue;
    std::vector<std::string> names;
    for (const uint32_t node : kept[group])
      names.push_back(fmt::format("{} on core {}", plan::nodeName(program.nodes[node]),
                                  plan::coreList(cores[node])));
    Problem &problem = problems.emplace_back();
    problem.code = "E0418";
    problem.reason = WrongOption();
    problem.message = fmt::format(
        "--core-partition pins {}, but {}", fmt::join(names, " and "),
        masks[group] == 0
            ? "one core computes each position of the loop"
            : fmt::format("the loop reduces over all positions and needs every core; allowed: {}",
                          plan::coreList(all)));
  }
  if (!problems.empty())
    return problems;
  for (uint32_t b = 0; b < program.bodies.size(); ++b)
    program.bodies[b].cores = masks[agreeing.ofBody(b)];
  for (uint32_t f = 0; f < program.families.size(); ++f)
    program.families[f].cores = masks[agreeing.ofFamily(f)];
  return problems;
}

} // namespace sluice::loops
