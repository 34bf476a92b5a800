// The phases that work on MLIR: import, layout, and the lowering to rows.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/rows/program.h"
#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// What a model becomes.
struct LoweredModel {
  std::vector<rows::Graph> graphs;    ///< equal in what they compute; the plain one first
  std::optional<rows::Program> loops; ///< the same as loops over positions

  [[nodiscard]] bool empty() const { return graphs.empty() && !loops; }
  [[nodiscard]] uint64_t macs() const { return loops ? loops->macs : graphs.front().macs; }
};

/// Runs the phases up to options.stage. Empty if `problems` says why, or if an earlier stage was
/// asked for, whose text is then in `result`.
LoweredModel runFront(const CompileOptions &options, const format::Geometry &geometry,
                      CompileResult &result, Problems &problems);

} // namespace sluice::pipeline
