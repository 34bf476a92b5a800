#include "compiler/conversion/plan/order/pins.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/conversion/row_graph.h"
#include "compiler/support/problem.h"

namespace sluice::plan {
namespace {

constexpr uint32_t kAllCores = ~uint32_t{0};

/// Whether a pin means a node: by its name, or by its number.
bool means(const Pin &pin, const format::SourceNode &node) {
  int64_t number = -1;
  const char *end = pin.node.data() + pin.node.size();
  const auto parsed = std::from_chars(pin.node.data(), end, number);
  return (!node.name.empty() && pin.node == node.name) ||
         (parsed.ec == std::errc() && parsed.ptr == end && number >= 0 && number == node.index);
}

Problem refusal(const Pin &pin, const std::string &why) {
  Problem problem;
  problem.code = "E0418";
  problem.reason = WrongOption();
  problem.message = fmt::format("--core-partition '{}={}': {}", pin.node, coreList(pin.cores), why);
  return problem;
}

/// Rows that are on one core, and no core may compute all of them.
void findConflicts(const Graph &graph, const Work &work, const NodeCores &cores,
                   Problems &problems) {
  std::map<uint32_t, std::set<uint32_t>> homes; // nodes
  std::set<std::set<uint32_t>> together;
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (const RowId row : work.stages[stage]) {
      const std::vector<uint32_t> &nodes = graph.rows[row].nodes;
      if (work[row].home == kNoHome)
        together.insert({nodes.begin(), nodes.end()});
      else
        homes[work[row].home].insert(nodes.begin(), nodes.end());
    }
  for (const auto &[home, nodes] : homes)
    together.insert(nodes);
  for (const std::set<uint32_t> &nodes : together) {
    uint32_t common = kAllCores;
    std::vector<std::string> kept;
    for (const uint32_t node : nodes) {
      common &= cores[node];
      if (cores[node] != kAllCores)
        kept.push_back(
            fmt::format("{} on core {}", nodeName(graph.nodes[node]), coreList(cores[node])));
    }
    if (common != 0)
      continue;
    Problem problem;
    problem.code = "E0418";
    problem.reason = WrongOption();
    problem.message =
        fmt::format("--core-partition pins {}, but they share rows that one core computes",
                    fmt::join(kept, " and "));
    problems.push_back(std::move(problem));
  }
}

} // namespace

std::string nodeName(const format::SourceNode &node) {
  const std::string name = node.name.empty() ? "" : fmt::format(" '{}'", node.name);
  return node.index < 0 ? fmt::format("node{}", name)
                        : fmt::format("node {}{} ({})", node.index, name, node.op);
}

std::string coreList(uint32_t mask) {
  std::vector<uint32_t> cores;
  for (uint32_t core = 0; core < 32; ++core)
    if ((mask >> core & 1) != 0)
      cores.push_back(core);
  return fmt::format("{}", fmt::join(cores, ","));
}

NodeCores coresOfNodes(const std::vector<format::SourceNode> &nodes,
                       const std::vector<bool> &hasRows, const std::vector<Pin> &pins,
                       Problems &problems) {
  NodeCores cores(nodes.size(), kAllCores);
  for (const Pin &pin : pins) {
    bool found = false;
    for (uint32_t node = 0; node < nodes.size(); ++node) {
      if (!means(pin, nodes[node]))
        continue;
      found = true;
      cores[node] &= pin.cores;
      if (!hasRows[node])
        problems.push_back(
            refusal(pin, fmt::format("no row is computed for {}; other operations absorb it",
                                     nodeName(nodes[node]))));
    }
    if (!found)
      problems.push_back(refusal(pin, fmt::format("no operation on the accelerator comes from node "
                                                  "'{}'; give the number or name of a node",
                                                  pin.node)));
  }
  return cores;
}

NodeCores coresOfNodes(const Graph &graph, const Work &work, const std::vector<Pin> &pins,
                       Problems &problems) {
  if (pins.empty())
    return {};
  std::vector<bool> hasRows(graph.nodes.size());
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (const RowId row : work.stages[stage])
      for (const uint32_t node : graph.rows[row].nodes)
        hasRows[node] = true;
  const size_t before = problems.size();
  NodeCores cores = coresOfNodes(graph.nodes, hasRows, pins, problems);
  if (problems.size() == before)
    findConflicts(graph, work, cores, problems);
  return cores;
}

uint32_t coresOfRow(const Row &row, const NodeCores *cores) {
  uint32_t allowed = kAllCores;
  if (cores && !cores->empty())
    for (const uint32_t node : row.nodes)
      allowed &= (*cores)[node];
  return allowed;
}

bool isPinned(const Graph &graph, const std::vector<RowId> &stage, const NodeCores *cores) {
  const uint32_t all = (1U << graph.geometry.cores) - 1;
  return std::ranges::any_of(
      stage, [&](RowId row) { return (coresOfRow(graph.rows[row], cores) & all) != all; });
}

} // namespace sluice::plan
