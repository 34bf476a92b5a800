#include "compiler/frontend/onnx/model_graph.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "llvm/Support/JSON.h"

namespace sluice::frontend {
namespace {

/// Where a name comes from: a node, or (kOutside) a graph input or initializer.
constexpr size_t kOutside = SIZE_MAX;
using Producers = std::unordered_map<std::string, size_t>;

/// All names of the graph, with the problems of defining them.
Producers defineNames(const onnx::GraphProto &proto, const ModelGraph &graph, Report &report) {
  Producers producers;
  std::set<std::string> initializers;
  auto declareInitializer = [&](const std::string &name) {
    if (!initializers.insert(name).second)
      report.add("E0107", fmt::format("two initializers are named {}", inQuotes(name)));
    producers.emplace(name, kOutside);
  };
  for (const onnx::TensorProto &tensor : proto.initializer())
    declareInitializer(tensor.name());
  for (const onnx::SparseTensorProto &tensor : proto.sparse_initializer())
    declareInitializer(tensor.values().name());
  std::set<std::string> inputs;
  for (const onnx::ValueInfoProto &input : proto.input()) {
    if (!inputs.insert(input.name()).second)
      report.add("E0107", fmt::format("two graph inputs are named {}", inQuotes(input.name())));
    producers.emplace(input.name(), kOutside);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const std::string &name : graph.nodes[n].proto->output()) {
      if (name.empty())
        continue;
      auto [entry, isNew] = producers.emplace(name, n);
      if (isNew)
        continue;
      std::string other = entry->second != kOutside  ? nodeText(graph.nodes[entry->second].ref)
                          : initializers.count(name) ? "an initializer"
                                                     : "a graph input";
      report.add("E0107", graph.nodes[n].ref,
                 fmt::format("output {} is already defined by {}", inQuotes(name), other));
    }
  }
  return producers;
}

void checkUses(const ModelGraph &graph, const Producers &producers, Report &report) {
  for (const GraphNode &node : graph.nodes)
    for (int i = 0; i < node.proto->input_size(); ++i) {
      const std::string &name = node.proto->input(i);
      if (!name.empty() && !producers.count(name))
        report.add("E0108", node.ref,
                   fmt::format("input {} is {}, but no graph input, initializer or node defines it",
                               i, inQuotes(name)));
    }
}

void checkOutputs(const onnx::GraphProto &proto, const Producers &producers, Report &report) {
  if (proto.output_size() == 0)
    report.add("E0110", "the graph has no outputs");
  std::set<std::string> seen;
  for (const onnx::ValueInfoProto &output : proto.output()) {
    if (!seen.insert(output.name()).second)
      report.add("E0107", fmt::format("two graph outputs are named {}", inQuotes(output.name())));
    else if (!producers.count(output.name()))
      report.add("E0110", fmt::format("no graph input, initializer or node defines graph output {}",
                                      inQuotes(output.name())));
  }
}

/// The nodes that `node` takes values from.
std::vector<size_t> predecessors(const GraphNode &node, const Producers &producers) {
  std::vector<size_t> out;
  const auto add = [&](const std::string &name) {
    auto found = producers.find(name);
    if (found != producers.end() && found->second != kOutside)
      out.push_back(found->second);
  };
  std::for_each(node.proto->input().begin(), node.proto->input().end(), add);
  forEachInnerName(*node.proto, add);
  return out;
}

void markUsed(const onnx::GraphProto &proto, ModelGraph &graph) {
  std::unordered_multiset<std::string_view> read;
  for (const onnx::ValueInfoProto &output : proto.output())
    read.insert(output.name());
  for (const GraphNode &node : graph.nodes) {
    read.insert(node.proto->input().begin(), node.proto->input().end());
    forEachInnerName(*node.proto, [&](const std::string &name) { read.insert(name); });
  }
  for (GraphNode &node : graph.nodes)
    for (const std::string &name : node.proto->output()) {
      const size_t readers = name.empty() ? 0 : read.count(name);
      node.used.push_back(readers > 0);
      node.shared.push_back(readers > 1);
    }
}

/// Kahn's algorithm, lowest index first, over the nodes that are `needed`.
std::vector<size_t> sortNodes(const std::vector<std::vector<size_t>> &before,
                              const std::vector<bool> &needed) {
  std::vector<size_t> missing(before.size());
  std::vector<std::vector<size_t>> after(before.size());
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < before.size(); ++n) {
    missing[n] = before[n].size();
    for (size_t p : before[n])
      after[p].push_back(n);
    if (needed[n] && missing[n] == 0)
      ready.push(n);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    size_t n = ready.top();
    ready.pop();
    order.push_back(n);
    for (size_t next : after[n])
      if (--missing[next] == 0 && needed[next])
        ready.push(next);
  }
  return order;
}

/// Reports one cycle of every group of nodes that block each other.
void reportCycles(const ModelGraph &graph, const std::vector<std::vector<size_t>> &before,
                  const std::vector<bool> &blocked, Report &report) {
  constexpr size_t kNever = SIZE_MAX;
  std::vector<size_t> walkOf(before.size(), kNever);
  for (size_t start = 0; start < before.size(); ++start) {
    if (!blocked[start] || walkOf[start] != kNever)
      continue;
    std::vector<size_t> walk;
    size_t at = start;
    while (walkOf[at] == kNever) {
      walkOf[at] = start;
      walk.push_back(at);
      // A blocked node has a blocked predecessor.
      at =
          *std::find_if(before[at].begin(), before[at].end(), [&](size_t p) { return blocked[p]; });
    }
    if (walkOf[at] != start)
      continue; // ran into a cycle that is reported
    std::vector<size_t> cycle(std::find(walk.begin(), walk.end(), at), walk.end());
    std::reverse(cycle.begin(), cycle.end()); // the walk went against the arrows
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    Problem &problem = report.add(
        "E0109", graph.nodes[cycle.front()].ref,
        cycle.size() == 1
            ? "the node depends on its own result"
            : fmt::format("{} nodes form a cycle; each depends on the one before", cycle.size()));
    for (size_t n : cycle)
      problem.notes.push_back(nodeText(graph.nodes[n].ref));
  }
}

} // namespace

std::string nodeText(const NodeRef &node) {
  return fmt::format("node {}{} ({})", node.index,
                     node.name.empty() ? "" : ' ' + inQuotes(node.name), node.op);
}

void forEachInnerName(const onnx::NodeProto &node,
                      const std::function<void(const std::string &)> &fn) {
  const auto ofGraph = [&fn](const onnx::GraphProto &graph) {
    std::set<std::string> own; // as far as it is defined: what is used before is not its own
    for (const onnx::ValueInfoProto &input : graph.input())
      own.insert(input.name());
    for (const onnx::TensorProto &tensor : graph.initializer())
      own.insert(tensor.name());
    for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
      own.insert(tensor.values().name());
    const auto outer = [&](const std::string &name) {
      if (!own.contains(name))
        fn(name);
    };
    for (const onnx::NodeProto &inner : graph.node()) {
      std::for_each(inner.input().begin(), inner.input().end(), outer);
      forEachInnerName(inner, outer);
      own.insert(inner.output().begin(), inner.output().end());
    }
    for (const onnx::ValueInfoProto &output : graph.output())
      outer(output.name());
  };
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      ofGraph(attribute.g());
    std::for_each(attribute.graphs().begin(), attribute.graphs().end(), ofGraph);
  }
}

std::set<std::string> namesOf(const onnx::GraphProto &graph) {
  std::set<std::string> names;
  for (const onnx::ValueInfoProto &input : graph.input())
    names.insert(input.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    names.insert(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    names.insert(tensor.values().name());
  for (const onnx::NodeProto &node : graph.node())
    names.insert(node.output().begin(), node.output().end());
  names.erase("");
  return names;
}

void checkNames(const onnx::GraphProto &proto, Report &report) {
  auto check = [&](const std::string &what, const std::string &name) {
    if (!llvm::json::isUTF8(name))
      report.add("E0102", fmt::format("{} is {}, which is not UTF-8 text; the file is damaged",
                                      what, inQuotes(llvm::json::fixUTF8(name))));
  };
  for (int i = 0; i < proto.node_size(); ++i) {
    check(fmt::format("the name of node {}", i), proto.node(i).name());
    check(fmt::format("the operator of node {}", i), proto.node(i).op_type());
  }
  for (const onnx::ValueInfoProto &input : proto.input())
    check("the name of a graph input", input.name());
  for (const onnx::ValueInfoProto &output : proto.output())
    check("the name of a graph output", output.name());
}

void checkAndSort(const onnx::GraphProto &proto, ModelGraph &graph, Report &report) {
  Producers producers = defineNames(proto, graph, report);
  checkUses(graph, producers, report);
  checkOutputs(proto, producers, report);

  std::vector<std::vector<size_t>> before;
  for (const GraphNode &node : graph.nodes)
    before.push_back(predecessors(node, producers));
  std::vector<bool> everything(before.size(), true);
  std::vector<size_t> sorted = sortNodes(before, everything);
  if (sorted.size() < before.size()) {
    std::vector<bool> blocked = everything;
    for (size_t n : sorted)
      blocked[n] = false;
    reportCycles(graph, before, blocked, report);
  }

  // What no output depends on is not imported.
  std::vector<bool> needed(before.size(), false);
  std::vector<size_t> work;
  auto need = [&](size_t n) {
    if (!needed[n]) {
      needed[n] = true;
      work.push_back(n);
    }
  };
  for (const onnx::ValueInfoProto &output : proto.output())
    if (auto found = producers.find(output.name());
        found != producers.end() && found->second != kOutside)
      need(found->second);
  while (!work.empty()) {
    size_t n = work.back();
    work.pop_back();
    for (size_t p : before[n])
      need(p);
  }
  std::vector<GraphNode> order;
  std::vector<bool> placed(before.size(), false);
  auto place = [&](size_t n) {
    if (needed[n] && !placed[n])
      order.push_back(graph.nodes[n]);
    placed[n] = true;
  };
  for (size_t n : sorted)
    place(n);
  for (size_t n = 0; n < before.size(); ++n) // of cycles: their operators are still checked
    place(n);
  graph.nodes = std::move(order);
  markUsed(proto, graph);
}

} // namespace sluice::frontend
