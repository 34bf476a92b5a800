// A model is cut: the part of its graph between some tensors is compiled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/cut_graph.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/report.h"

namespace sluice::frontend {

/// The part of a graph that is compiled.
struct Part {
  std::vector<std::string> inputs, outputs;
  std::vector<bool> nodes; ///< by number; constants that it needs are among them
};

/// Returns the part between the tensors of `cut`; nothing, and E0121, if there is none.
std::optional<Part> findPart(const onnx::GraphProto &proto, const CutGraph &graph, const Cut &cut,
                             Report &report);

/// Replaces the graph of a model by the part between the tensors of `options.cut`. Removes shapes
/// from the options that only the nodes in front of the part need. Returns false, with at least one
/// problem (E0121), if that cannot be done.
bool cutModel(onnx::ModelProto &model, ImportOptions &options, std::vector<std::string> &notes,
              Report &report);

} // namespace sluice::frontend
