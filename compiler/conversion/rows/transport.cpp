#include "compiler/conversion/rows/transport.h"

#include <utility>

#include "compiler/conversion/rows/graph_builder.h"

namespace sluice::rows {

Program transportOf(const Program &model) {
  GraphBuilder builder(model.geometry);
  const uint32_t lanes = builder.lanes();
  std::vector<Port> inputs, outputs;
  for (uint32_t i = 0; i < model.inputs.size(); ++i) {
    Port &port = inputs.emplace_back(Port{model.inputs[i], {}});
    for (uint32_t row = 0; row < port.tensor.rows; ++row)
      port.rows.push_back(
          builder.input(i, row, lanes, LaneValues::anything(), LaneValues::known(0)));
  }
  const RowId zeros = builder.constant(std::vector<double>(lanes));
  for (const format::HostTensor &tensor : model.outputs) {
    Port &port = outputs.emplace_back(Port{tensor, {}});
    for (uint32_t row = 0; row < tensor.rows; ++row)
      port.rows.push_back(builder.vector(VectorStep{}, {zeros}, kNoRow, kNoRow, lanes));
  }
  Graph graph = builder.take();
  graph.modelName = model.modelName;
  graph.inputs = std::move(inputs);
  graph.outputs = std::move(outputs);
  return straightLine(std::move(graph));
}

} // namespace sluice::rows
