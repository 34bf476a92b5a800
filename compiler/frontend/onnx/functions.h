// Calls of model-local functions, replaced by the functions' bodies.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "compiler/frontend/onnx/model_graph.h"

namespace sluice::frontend {

class FunctionInliner {
public:
  /// Malformed functions are E0113. The model and its opsets must outlive the inliner.
  FunctionInliner(const onnx::ModelProto &model, const Opsets &opsets, Report &report);

  /// The nodes of the model in its order, calls replaced.
  ModelGraph ofModel(const onnx::GraphProto &graph);
  /// The same of a graph in an attribute of `owner`, whose nodes are named after it.
  ModelGraph ofBody(const onnx::GraphProto &graph, const GraphNode &owner);

private:
  /// Domain, name, overload.
  using Key = std::tuple<std::string, std::string, std::string>;
  /// A function with what its newer fields add.
  struct Function {
    const onnx::FunctionProto *proto = nullptr;
    std::string name; ///< for messages
    Opsets opsets;
    std::map<std::string, onnx::AttributeProto> defaults;
  };

  class Body;

  void declare(const onnx::FunctionProto &proto);
  void add(const onnx::NodeProto &node, NodeRef ref, const Opsets &opsets);
  void call(const onnx::NodeProto &node, const NodeRef &ref, const Function &function);
  bool checkCall(const onnx::NodeProto &node, const NodeRef &ref, const Function &function);
  void expand(const onnx::NodeProto &node, const NodeRef &ref, const Function &function);
  void addIdentity(const std::string &from, const std::string &to, const NodeRef &ref,
                   const Function &function);

  const Opsets &modelOpsets;
  Report &report;
  std::map<Key, Function> functions;
  std::set<const onnx::FunctionProto *> active; ///< whose bodies the next node is in
  ModelGraph graph;
  size_t calls = 0;
  bool stopped = false;
};

} // namespace sluice::frontend
