#include "compiler/reduce/bypass.h"

#include <algorithm>
#include <set>

#include "compiler/reduce/graph_parts.h"
#include "compiler/reduce/inner_graphs.h"

namespace sluice::reduce {
namespace {

using Names = std::set<std::string>;

void addBypasses(const onnx::GraphProto &graph, const Facts *facts, std::vector<Bypass> &list) {
  const auto isAlike = [&](const std::string &a, const std::string &b) {
    if (facts == nullptr)
      return true;
    const auto one = facts->find(a), other = facts->find(b);
    return one != facts->end() && other != facts->end() && one->second.type == other->second.type &&
           one->second.shape == other->second.shape;
  };
  Names read;
  for (const onnx::NodeProto &node : graph.node())
    read.merge(readsOf(node));
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    const onnx::NodeProto &node = graph.node(i);
    forEachInnerGraph(node,
                      [&](const onnx::GraphProto &inner) { addBypasses(inner, nullptr, list); });
    if (node.output().empty() || node.output(0).empty() ||
        std::any_of(node.output().begin() + 1, node.output().end(),
                    [&](const std::string &name) { return read.contains(name); }))
      continue;
    Names tried;
    for (const std::string &operand : node.input())
      if (!operand.empty() && tried.insert(operand).second && isAlike(node.output(0), operand))
        list.push_back({node.output(0), operand});
  }
}

void renameReads(onnx::GraphProto &graph, const Bypass &which, bool isInner) {
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    for (std::string &name : *node.mutable_input())
      if (name == which.result)
        name = which.operand;
    forEachInnerGraph(node, [&](onnx::GraphProto &inner) { renameReads(inner, which, true); });
  }
  if (isInner)
    for (onnx::ValueInfoProto &output : *graph.mutable_output())
      if (output.name() == which.result)
        output.set_name(which.operand);
}

/// The position of the node that computes a tensor; -1 if there is none.
int producer(const onnx::GraphProto &graph, const std::string &name) {
  for (int i = 0; i < graph.node_size(); ++i)
    if (std::ranges::find(graph.node(i).output(), name) != graph.node(i).output().end())
      return i;
  return -1;
}

/// Bypasses a node of this graph. The outermost graph has no output that is an input, too.
bool bypassIn(onnx::GraphProto &graph, const Bypass &which, bool isInner) {
  const int at = producer(graph, which.result);
  if (at < 0) {
    for (onnx::NodeProto &node : *graph.mutable_node()) {
      bool isRight = true;
      forEachInnerGraph(node, [&](onnx::GraphProto &inner) {
        isRight = isRight && bypassIn(inner, which, true);
      });
      if (!isRight)
        return false;
    }
    return true;
  }
  graph.mutable_node()->DeleteSubrange(at, 1);
  renameReads(graph, which, isInner);
  if (isInner)
    return true;
  const auto outputs = [&](const std::string &name) {
    return std::ranges::find(graph.output(), name, &onnx::ValueInfoProto::name);
  };
  const auto output = outputs(which.result);
  if (output == graph.output().end())
    return true;
  if (producer(graph, which.operand) >= 0 && outputs(which.operand) == graph.output().end())
    graph.mutable_output(static_cast<int>(output - graph.output().begin()))
        ->set_name(which.operand);
  else
    graph.mutable_output()->DeleteSubrange(static_cast<int>(output - graph.output().begin()), 1);
  return !graph.output().empty();
}

} // namespace

std::vector<Bypass> bypassesOf(const onnx::GraphProto &graph, const Facts &facts) {
  std::vector<Bypass> list;
  addBypasses(graph, &facts, list);
  return list;
}

bool bypass(onnx::ModelProto &model, const Bypass &which) {
  return bypassIn(*model.mutable_graph(), which, false);
}

} // namespace sluice::reduce
