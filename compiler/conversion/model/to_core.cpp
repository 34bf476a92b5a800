#include "compiler/conversion/model/to_core.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

#include "compiler/target/core_program.h"

namespace sluice::conversion {
namespace {

/// A location that names the nodes.
mlir::Location locationOf(mlir::MLIRContext &context, const format::Program &program,
                          const std::vector<uint32_t> &nodes) {
  llvm::SmallVector<mlir::Location> locations;
  for (const uint32_t node : nodes)
    locations.push_back(
        mlir::NameLoc::get(mlir::StringAttr::get(&context, program.nodes[node].name)));
  return mlir::FusedLoc::get(&context, locations);
}

} // namespace

mlir::OwningOpRef<core::ProgramOp> toCore(mlir::MLIRContext &context, const plan::Plan &plan) {
  uint32_t outputRows = 0;
  for (const format::HostTensor &tensor : plan.program.models[0].outputs)
    outputRows += tensor.rows;
  core::ProgramBuilder builder(context, plan.program.geometry, outputRows);
  for (const plan::Instructions &list : plan.lists) {
    builder.beginList();
    for (const plan::PlannedInstruction &one : list) {
      const mlir::Location where = locationOf(context, plan.program, one.nodes);
      const std::optional<isa::Words> words = isa::encode(one.instruction);
      if (!words) {
        mlir::emitError(where, "an address does not fit its field");
        return nullptr;
      }
      builder.add(where, *words, one.nodes);
    }
  }
  mlir::OwningOpRef<core::ProgramOp> program = builder.take();
  if (mlir::failed(mlir::verify(*program)))
    return nullptr;
  return program;
}

} // namespace sluice::conversion
