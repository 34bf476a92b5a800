// Which nodes of a graph compute which tensors, for cutting it into parts.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::frontend {

/// The nodes that some tensors need.
struct Reach {
  std::vector<bool> nodes;      ///< by number
  std::set<std::string> stops;  ///< tensors that were needed and not followed further
  std::set<std::string> inputs; ///< inputs of the graph
};

/// Declarations of tensors.
using ValueInfos = std::vector<onnx::ValueInfoProto>;

class CutGraph {
public:
  /// The graph must outlive this object. It need not be valid.
  explicit CutGraph(const onnx::GraphProto &graph);

  /// Returns the nodes that `tensors` need. The search does not go beyond tensors of `stops`.
  [[nodiscard]] Reach needs(const std::vector<std::string> &tensors,
                            const std::set<std::string> &stops) const;

  /// Returns the declarations of the inputs of the graph that were reached, in its order.
  [[nodiscard]] ValueInfos inputsOf(const Reach &reach) const;

  /// Returns the number of the node that computes a tensor; nothing for inputs and initializers.
  [[nodiscard]] std::optional<size_t> producer(const std::string &tensor) const;

  [[nodiscard]] bool has(const std::string &tensor) const;
  [[nodiscard]] bool isInput(const std::string &tensor) const { return inputs.contains(tensor); }
  /// Whether a tensor depends on no input. Every part that reads it computes it again.
  [[nodiscard]] bool isConstant(const std::string &tensor) const;
  [[nodiscard]] bool isConstantNode(size_t node) const { return constant[node]; }
  /// Returns the tensors that a node and the graphs in its attributes read.
  [[nodiscard]] const std::vector<std::string> &reads(size_t node) const { return read[node]; }
  /// Returns all tensors that a cut may name: inputs, and outputs of nodes.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns what the graph declares of a tensor; null if nothing.
  [[nodiscard]] const onnx::ValueInfoProto *declared(const std::string &tensor) const;

private:
  void findConstants();

  const onnx::GraphProto &graph;
  std::set<std::string> inputs, initializers;
  std::unordered_map<std::string, size_t> producers;
  std::vector<std::vector<std::string>> read;
  std::vector<bool> constant; ///< by node
};

/// Returns the graph of some nodes with the initializers and declarations that they need. Both are
/// moved out of `from` if `move`, else copied.
onnx::GraphProto partOf(onnx::GraphProto &from, const CutGraph &graph,
                        const std::vector<bool> &nodes, const ValueInfos &inputs,
                        const ValueInfos &outputs, bool move);

} // namespace sluice::frontend
