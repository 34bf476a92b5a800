// The graph of a model as it was imported, kept for comparison with what is made of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "compiler/frontend/onnx/import.h"

namespace sluice::check {

class Oracle {
public:
  /// Copies an imported module. Constants are shared with the original, in the context.
  Oracle(std::shared_ptr<mlir::MLIRContext> context, mlir::ModuleOp module,
         const frontend::ImportedModel &info);

  [[nodiscard]] mlir::func::FuncOp function() const;
  /// Returns whether the model remembers something from one inference to the next.
  [[nodiscard]] bool hasState() const;
  /// Inputs and outputs of the function; shapes as the model has them.
  [[nodiscard]] const std::vector<frontend::ImportedTensor> &inputs() const { return ins; }
  /// Inputs of the host, of which those of the function are made.
  [[nodiscard]] const std::vector<frontend::ImportedTensor> &arrays() const {
    return hosts.empty() ? ins : hosts;
  }
  [[nodiscard]] const std::vector<frontend::ImportedTensor> &outputs() const { return outs; }
  /// Inputs of the graph, then outputs of nodes in the order of execution.
  [[nodiscard]] const std::vector<frontend::GraphTensor> &tensors() const { return all; }

private:
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> copy;
  std::vector<frontend::ImportedTensor> hosts, ins, outs;
  std::vector<frontend::GraphTensor> all;
};

} // namespace sluice::check
