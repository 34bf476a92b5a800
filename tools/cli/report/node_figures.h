// What a program does for each node of its model, for viewers of models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/layer_errors.h"
#include "compiler/frontend/onnx/annotated_model.h"
#include "tools/cli/report/report_data.h"

namespace sluice::cli {

/// The largest error of the elements of a tensor, as `sluice compare` prints it.
struct NodeError {
  double error = 0, range = 0;
  double shareOfBound = 0;
};

struct NodeFigures {
  std::string name; ///< frontend::ViewedNode::name
  /// Titles of the layers that have instructions of the node; none: it has no instruction.
  std::vector<std::string> layers;
  /// Of these layers together, which other nodes may share.
  uint64_t cycles = 0, rows = 0;
  std::vector<uint32_t> cores; ///< that compute rows or block products of these layers
  /// Its results with a data dimension.
  std::vector<pipeline::TensorLayout> layouts;
  std::optional<NodeError> error; ///< of the result that was compared
};

/// Returns the figures of every node, in the order of `nodes`. `errors` may be null: nothing was
/// compared.
std::vector<NodeFigures> nodeFigures(const ReportSubject &subject,
                                     const std::vector<frontend::ViewedNode> &nodes,
                                     const check::LayerErrors *errors);

} // namespace sluice::cli
