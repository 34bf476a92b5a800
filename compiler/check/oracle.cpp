#include "compiler/check/oracle.h"

#include "mlir/IR/IRMapping.h"

#include "compiler/dialect/sluice/operations.h"

namespace sluice::check {

Oracle::Oracle(std::shared_ptr<mlir::MLIRContext> context, mlir::ModuleOp module,
               const frontend::ImportedModel &info)
    : context(std::move(context)), hosts(info.arrays), ins(info.inputs), outs(info.outputs),
      all(info.tensors) {
  mlir::IRMapping mapping;
  copy = llvm::cast<mlir::ModuleOp>(module->clone(mapping));
  for (frontend::GraphTensor &tensor : all)
    if (tensor.value)
      tensor.value = mapping.lookupOrNull(tensor.value);
}

mlir::func::FuncOp Oracle::function() const {
  return copy.get().lookupSymbol<mlir::func::FuncOp>("main");
}

bool Oracle::hasState() const { return !function().getOps<ir::StateOp>().empty(); }

} // namespace sluice::check
