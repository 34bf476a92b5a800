// Nodes of a quantised network whose integers may differ from those of ONNX.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/problem.h"

namespace sluice::rows {

/// Whether an ONNX operator rounds numbers to quantised integers.
bool isQuantising(std::string_view op);

class IntegerDifferences {
public:
  /// Says that integers of a node may differ by so many steps, for equal inputs of the node; by any
  /// number of steps if no bound is given.
  void add(const NodeRef &node, std::optional<int64_t> steps);
  /// Says that integers of a node are those of ONNX, for equal inputs of the node; add() overrules
  /// it.
  void addExact(const NodeRef &node) { exact.insert(node.index); }
  /// The indices of the nodes all of whose integers are those of ONNX.
  [[nodiscard]] std::set<int64_t> exactNodes() const;
  /// A note for each of the first nodes, and one for the others.
  [[nodiscard]] std::vector<std::string> notes() const;

private:
  struct Difference {
    NodeRef node;
    std::optional<int64_t> steps;
  };
  std::map<int64_t, Difference> nodes; ///< by their index
  std::set<int64_t> exact;
};

} // namespace sluice::rows
