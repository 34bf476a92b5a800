// Runs a function of the sluice dialect twice: through the golden evaluator, and
// through its row graph in a small interpreter that shares no code with the
// machine model but the lane operations.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "compiler/conversion/rows/lower.h"
#include "compiler/reference/tensor.h"

namespace sluice::rows::test {

/// Values of every row, B fp32 each (bf16 values), for the values of the input
/// rows. Checks the rules of row_graph.h on the way.
std::vector<std::vector<float>> interpret(const Graph &graph,
                                          const std::vector<std::vector<uint16_t>> &inputRows);

class Model {
public:
  /// Parses a function @main after layout. Tensors are `lanes` wide on rows.
  /// `inputs` is what its inputs hold: by default finite elements, and zeros beyond them.
  explicit Model(const std::string &text, uint32_t lanes = 8, LoweringOptions options = {},
                 const TensorLanes &inputs = {LaneValues::finite(), LaneValues::known(0)});
  ~Model();

  std::optional<Graph> graph;
  Problems problems;
  std::vector<std::string> notes; ///< of the lowering

  /// The function that was parsed.
  [[nodiscard]] mlir::func::FuncOp main() const;

  /// Rows that are computed.
  [[nodiscard]] size_t computed() const;
  [[nodiscard]] size_t count(RowKind kind) const;

  /// Largest difference between rows and golden values, relative to the
  /// largest golden value, over all outputs, for inputs from [low, high].
  double error(double low = -2, double high = 2, unsigned seed = 1);
  /// Outputs of the row graph for inputs given in row-major order.
  std::vector<reference::Tensor> run(const std::vector<reference::Tensor> &inputs);
  std::vector<reference::Tensor> golden(const std::vector<reference::Tensor> &inputs);
  std::vector<reference::Tensor> randomInputs(double low, double high, unsigned seed);

private:
  uint32_t lanes;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace sluice::rows::test
