// The nodes of a model, model-local functions inlined, checked for what a graph
// must satisfy whatever its operators are, and put in an order of execution.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/frontend/onnx/report.h"

namespace sluice::frontend {

/// Version by domain; the default domain is "".
using Opsets = std::map<std::string, int64_t>;

/// The oldest and newest opset of the default domain that is imported.
inline constexpr int64_t kMinOpset = 1;
inline constexpr int64_t kMaxOpset = 26;

/// The domain of what is not a neural network, such as the models of scikit-learn.
inline constexpr const char *kMlDomain = "ai.onnx.ml";

/// The newest version of a domain that is imported.
int64_t newestOpset(const std::string &domain);

/// "ai.onnx" is another spelling of the default domain.
std::string normalDomain(const std::string &domain);

struct GraphNode {
  const onnx::NodeProto *proto = nullptr;
  NodeRef ref;       ///< of the model's node; an inlined one has its call's index
  int64_t opset = 0; ///< version of the node's domain, 0 if it is not imported
  /// By output, whether a node or an output of the graph reads it; checkAndSort sets it.
  std::vector<bool> used = {};
  std::vector<bool> shared = {};  ///< by output, whether several nodes or outputs read it
  const Opsets *opsets = nullptr; ///< of what it comes from: of its graphs too
  std::set<const onnx::FunctionProto *> within = {}; ///< the functions it comes from
};

struct ModelGraph {
  std::vector<GraphNode> nodes;
  std::deque<onnx::NodeProto> inlined; ///< owner of the nodes made by inlining
};

/// Calls `fn` with every name that the graphs in the node's attributes take from the
/// graph around the node. A name that such a graph defines itself is its own, whatever
/// else has it.
void forEachInnerName(const onnx::NodeProto &node,
                      const std::function<void(const std::string &)> &fn);

/// What a graph defines: its inputs, initializers and the outputs of its nodes.
std::set<std::string> namesOf(const onnx::GraphProto &graph);

/// "node 3 'fc' (Gemm)".
std::string nodeText(const NodeRef &node);

/// Checks IR version and opset imports (E0104; E0102 if there are none).
Opsets checkVersions(const onnx::ModelProto &model, Report &report);

/// Checks that the names the program file keeps are text (E0102).
void checkNames(const onnx::GraphProto &proto, Report &report);

/// Checks names (E0107), uses (E0108), cycles (E0109) and outputs (E0110);
/// keeps the nodes the outputs depend on, in an order of execution that is the
/// model's own where that is one.
void checkAndSort(const onnx::GraphProto &proto, ModelGraph &graph, Report &report);

} // namespace sluice::frontend
