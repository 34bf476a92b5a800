// Cuts around nodes that are not supported.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "compiler/support/outcome.h"

namespace sluice::frontend {

/// A part of a model without some nodes.
struct Level {
  Cut cut;
  bool hasProducts = false; ///< it has nodes that multiply matrices
};

/// The parts of a model between nodes that are not supported. Each is convex.
struct Levels {
  std::vector<Level> fromInputs;  ///< by the most such nodes on a path from an input
  std::vector<Level> fromOutputs; ///< by the most such nodes on a path to an output
};

/// Returns the parts of the model at `options.path` without the nodes `missing`. The parts of each
/// list have all other nodes that an output needs, each once.
Outcome<Levels> levelsAround(const ImportOptions &options, const std::set<int64_t> &missing);

} // namespace sluice::frontend
