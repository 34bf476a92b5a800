// sluice -> rows: from a function after layout to the row graph the planner
// places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "compiler/conversion/row_graph.h"
#include "compiler/conversion/rows/graph_builder.h"
#include "compiler/conversion/rows/integer_differences.h"
#include "compiler/conversion/rows/trees.h"
#include "compiler/conversion/rows/value_numbers.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/support/outcome.h"

namespace sluice::rows {

/// Which rows of a tensor of the model the rows of a value are.
struct TensorRows {
  uint32_t tensor = 0;         ///< index into ModelInfo::tensors
  std::vector<uint32_t> first; ///< by row of the value; empty: all of them, in their order
  int32_t step = 0;            ///< from one trip to the next
  bool partial = false;        ///< not they but what is summed up to them

  [[nodiscard]] Elements of(uint32_t row) const {
    return {tensor, first.empty() ? row : first[row], step, partial};
  }
};
using ValueElements = llvm::DenseMap<mlir::Value, TensorRows>;

/// What the function does not say about the model.
struct ModelInfo {
  std::string name;
  /// As the host sees them, in the order of the function's arguments and
  /// results: name, shape and type. The data dimension comes from the function.
  std::vector<format::HostTensor> inputs, outputs;
  /// What the rows of each input hold. Inputs without an entry come from the host (hostLanes).
  std::vector<TensorLanes> lanes;
  std::vector<format::SourceNode> nodes;
  uint64_t parameters = 0;
  std::vector<format::ModelTensor> tensors; ///< that values are
  ValueElements values;
  std::vector<Number> inputNumbers; ///< what is known of the inputs; empty: nothing
  ValueNumbers numbers;             ///< of values, if integers of the model are compared with ONNX
};

/// Says how the rows of a value hold the elements of a tensor, a host's or the model's, of which
/// neighbouring axes may be one axis of the value. The tensor's shape is known.
template <typename Tensor> void setPacking(Tensor &tensor, mlir::Value value) {
  tensor.dataDim = static_cast<uint32_t>(ir::dataDim(value).value_or(0));
  if (const auto shape = ir::shapeOf(value); shape != llvm::ArrayRef(tensor.shape))
    tensor.packed = shape;
}

/// Enters the tensors of the model that values of the function are (model_tensor.h).
void nameTensors(mlir::func::FuncOp function, ModelInfo &info);

struct LoweringOptions {
  /// Multiplications that may be spent on typical values, by which biases make up for
  /// rounded weights; contractions beyond them are sampled.
  int64_t nominalProducts = 50'000'000;
  std::vector<std::string> *notes = nullptr; ///< what was sampled is added; may be null
  /// Gets the nodes whose integers may differ from those of ONNX; null: nobody asks.
  IntegerDifferences *differences = nullptr;
  /// Whether products clear elements that views do not read (GraphBuilder::clearsUnread), and
  /// inputs from the host may hold anything in them; else they are taken for finite. By default, if
  /// slices of the function leave out lanes: of the whole function, for a part of one.
  std::optional<bool> clearsUnread = std::nullopt;
  /// What the rows of each output hold is added; may be null.
  std::vector<TensorLanes> *lanes = nullptr;
  TreeShape trees = {};           ///< in which rows are merged
  TreesSeen *treesSeen = nullptr; ///< gets what of the shape mattered; may be null
};

/// What the rows of inputs from the host hold: anything in their elements, or finite values.
TensorLanes hostLanes(bool anything);

/// Whether slices of a function leave out lanes.
bool takesLanes(mlir::func::FuncOp function);

/// Attaches the lowering of every operation to the context. Idempotent; done by
/// lowerToRows as well.
void registerRowLowering(mlir::MLIRContext &context);

/// Lowers a function of one block whose runtime tensors all have a data
/// dimension. At least one problem (E04xx) if something in it
/// cannot be computed by the machine. Constants are rounded to bf16, nearest
/// even, biases stay fp32. Padding lanes of output rows are not specified.
Outcome<Graph> lowerToRows(mlir::func::FuncOp function, const format::Geometry &geometry,
                           const ModelInfo &info, const LoweringOptions &options = {});

} // namespace sluice::rows
