#include "compiler/check/cost.h"

#include "llvm/Support/MathExtras.h"

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

namespace sluice::check {
namespace {

uint64_t elementsOf(mlir::Value value) {
  return static_cast<uint64_t>(
      llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements());
}

uint64_t costOf(mlir::Block &block);

/// In tenths of nanoseconds.
uint64_t costOf(mlir::Operation &op) {
  constexpr uint64_t kProduct = 8, kMapped = 60, kMoved = 40;
  if (auto loop = llvm::dyn_cast<ir::LoopOp>(op))
    return llvm::SaturatingMultiply<uint64_t>(loop.getTrips(), costOf(loop.getBody().front()));
  uint64_t elements = 0;
  for (const mlir::Value result : op.getResults())
    elements += elementsOf(result);
  if (llvm::isa<ir::MatmulOp, ir::ContractOp>(op)) {
    // Every element of the result is a sum over the axes that the result has not.
    const auto space = llvm::cast<ir::IndexSpaceInterface>(op).indexSpace();
    uint64_t products = 1;
    for (const auto &loop : space.loops)
      products = llvm::SaturatingMultiply<uint64_t>(products, loop.extent);
    return kProduct * products + kMoved * elements;
  }
  if (auto map = llvm::dyn_cast<ir::MapOp>(op))
    return kMapped * elements * map.getBody().front().getOperations().size();
  for (const mlir::Value operand : op.getOperands())
    elements = std::max(elements, elementsOf(operand));
  return kMoved * elements;
}

uint64_t costOf(mlir::Block &block) {
  uint64_t cost = 0;
  for (mlir::Operation &op : block.without_terminator())
    cost = llvm::SaturatingAdd(cost, costOf(op));
  return cost;
}

} // namespace

uint64_t costOf(const Oracle &oracle, size_t variants) {
  return llvm::SaturatingMultiply<uint64_t>(costOf(oracle.function().front()), variants) / 10;
}

} // namespace sluice::check
