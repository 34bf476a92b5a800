// The graph of a model as imported, which the check of the finished program evaluates.
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
  /// Copies an imported module. The copy shares its constants with the original, in the context.
  Oracle(std::shared_ptr<mlir::MLIRContext> context, mlir::ModuleOp module,
         const frontend::ImportedModel &info);

  [[nodiscard]] mlir::func::FuncOp function() const;
  /// Whether the model keeps a state between inferences.
  [[nodiscard]] bool hasState() const;
  /// The inputs of the function, with the shapes of the model.
  [[nodiscard]] const std::vector<frontend::ImportedTensor> &inputs() const { return ins; }
  /// The inputs of the user, from which the host computes those of the function.
  [[nodiscard]] const std::vector<frontend::ImportedTensor> &arrays() const {
    return hosts.empty() ? ins : hosts;
  }
  /// The outputs of the function, with the shapes of the model.
  [[nodiscard]] const std::vector<frontend::ImportedTensor> &outputs() const { return outs; }
  /// The inputs of the graph, then the outputs of the nodes in the order of execution.
  [[nodiscard]] const std::vector<frontend::GraphTensor> &tensors() const { return all; }

private:
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> copy;
  std::vector<frontend::ImportedTensor> hosts, ins, outs;
  std::vector<frontend::GraphTensor> all;
};

} // namespace sluice::check
