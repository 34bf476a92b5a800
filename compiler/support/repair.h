// Repairs of models whose operations have no layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/problem.h"

namespace sluice {

/// Flags that allow changes of a model that has no layout without them.
struct RepairFlags {
  bool dynamicWeights = false, rewriteLayout = false;

  bool operator==(const RepairFlags &) const = default;

  /// "--allow-dynamic-weights --rewrite-layout"
  [[nodiscard]] std::string text() const {
    std::string text = dynamicWeights ? "--allow-dynamic-weights" : "";
    if (rewriteLayout)
      text += text.empty() ? "--rewrite-layout" : " --rewrite-layout";
    return text;
  }
};

/// A change of a model, at one node.
struct Change {
  NodeRef node;
  std::string text; ///< "activations as weights"
};

/// Flags with which a model compiles, and the program that they give.
struct Repair {
  RepairFlags flags;
  std::optional<uint64_t> cycles; ///< of one inference, machine idle before; nothing: not measured
  std::vector<Change> changes;
};

} // namespace sluice
