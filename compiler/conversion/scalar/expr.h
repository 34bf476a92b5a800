// The body of a map as a graph of scalar operations, simplified while it is
// built. No MLIR here: importExpr (lower_map.cpp) decodes regions into it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/reference/function.h"

namespace sluice::rows {

/// Index of a node of an Expr. Arguments have smaller indices than their users.
using NodeId = uint32_t;

enum class ScalarOp : uint8_t {
  Input,    ///< operand `input` of the map
  Constant, ///< `value`
  Add,
  Sub,
  Mul,
  Div, ///< args: left, right, and the node 1 / right, which always exists beside it
  Max,
  Min,
  Lt,
  Le,
  Eq,
  Ne,
  Ge,
  Gt,
  Select, ///< args: condition, then, else
  Call,   ///< `function` of the arguments; the machine knows it only as a table
};

struct ScalarNode {
  ScalarOp op = ScalarOp::Constant;
  uint8_t count = 0; ///< arguments in use (a Div has 3)
  std::array<NodeId, 3> args{};
  double value = 0;
  uint32_t input = 0;
  reference::Function function{}; ///< of a Call
  bool isBoolean = false;         ///< 0 or 1, whatever the inputs are
};

class Expr {
public:
  NodeId input(uint32_t index);
  NodeId constant(double value);
  /// Comparisons give 1 or 0. Constants move to the right.
  NodeId binary(ScalarOp op, NodeId left, NodeId right);
  NodeId select(NodeId condition, NodeId then, NodeId otherwise);
  NodeId call(reference::Function function, const std::vector<NodeId> &args);

  /// Says what stands for a node of another graph in this one; nothing: a copy.
  /// The second argument has what stands for smaller nodes.
  using Replacement = std::function<std::optional<NodeId>(NodeId, const std::vector<NodeId> &)>;
  /// Copies `other` in and returns what stands for other.result. Inputs must be
  /// replaced.
  NodeId splice(const Expr &other, const Replacement &replacement);

  const ScalarNode &operator[](NodeId node) const { return nodes[node]; }
  [[nodiscard]] size_t size() const { return nodes.size(); }
  [[nodiscard]] bool isConstant(NodeId node) const { return nodes[node].op == ScalarOp::Constant; }

  /// Value of `node` for values of the inputs.
  [[nodiscard]] double evaluate(NodeId node, const std::vector<double> &inputs) const;
  /// `node` as a function of `cut`, through which alone it depends on inputs.
  [[nodiscard]] std::function<double(double)> functionOf(NodeId node, NodeId cut) const;
  /// Nodes through which alone `node` depends on the inputs, ascending, without
  /// `node` itself. Empty if it depends on several ways at once.
  [[nodiscard]] std::vector<NodeId> cuts(NodeId node) const;
  /// Whether a node between `node` and `cut`, or `node`, rounds to bf16 or fp32.
  [[nodiscard]] bool roundsBetween(NodeId node, NodeId cut) const;
  /// Text that is equal for equal functions built the same way: of `cut`, or of the inputs without
  /// it.
  [[nodiscard]] std::string key(NodeId node, std::optional<NodeId> cut = std::nullopt) const;
  /// Nodes below `node` and itself, ascending.
  [[nodiscard]] std::vector<NodeId> reachable(NodeId node) const;

  NodeId result = 0;

private:
  NodeId add(ScalarNode node);
  [[nodiscard]] std::optional<NodeId> simplifyBinary(ScalarOp op, NodeId left, NodeId right);
  [[nodiscard]] bool is(NodeId node, double value) const;
  [[nodiscard]] bool computesBoolean(const ScalarNode &node) const;
  [[nodiscard]] bool isCall(NodeId node, reference::Function function) const;

  std::vector<ScalarNode> nodes;
};

/// Computes one node from its arguments' values.
double evaluateScalar(const ScalarNode &node, const double *args);

} // namespace sluice::rows
