#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/scalar.h"
#include "compiler/transforms/line_writer.h"
#include "compiler/transforms/map_operands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SINKFACTORS
#include "compiler/transforms/passes.h.inc"

namespace {

/// A factor of everything that a map computes: one broadcast operand.
struct Factor {
  BroadcastOp broadcast;
  unsigned operand = 0;    ///< of the map
  Operation *op = nullptr; ///< the product with it, or the quotient
};

/// Looks for a factor in a value of a map's body through products and quotients
/// whose results nothing else uses.
std::optional<Factor> factorOf(MapOp map, Value result) {
  llvm::SmallVector<Value> pending{result};
  while (!pending.empty()) {
    const Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    const auto function = op ? reference::functionOf(op) : std::nullopt;
    const bool divides = function == reference::Function::Div;
    if ((!divides && function != reference::Function::Mul) || !value.hasOneUse())
      continue;
    for (const unsigned side : {1U, 0U}) {
      if (divides && side == 0)
        continue;
      const auto argument = llvm::dyn_cast<BlockArgument>(op->getOperand(side));
      if (!argument || !argument.hasOneUse())
        continue;
      const unsigned operand = argument.getArgNumber();
      auto broadcast = map.getInputs()[operand].getDefiningOp<BroadcastOp>();
      if (broadcast && dataDim(broadcast.getInput()))
        return Factor{broadcast, operand, op};
    }
    if (!divides)
      pending.push_back(op->getOperand(1));
    pending.push_back(op->getOperand(0)); // first
  }
  return std::nullopt;
}

/// Whether a factor of one operand is as well one of the product: it does not vary
/// along the axes that are summed over, runs along the others like the result, and lies
/// along the lanes like the result.
bool passes(OpOperand &use, BroadcastOp broadcast, bool constantWeights) {
  Operation *op = use.getOwner();
  auto computing = llvm::dyn_cast<IndexSpaceInterface>(op);
  if (!computing || op->getNumOperands() != 2 || op->getOperand(0) == op->getOperand(1))
    return false;
  const space::IndexSpace space = computing.indexSpace();
  if (space.work != space::Work::Product)
    return false;
  const bool dynamic = dataDim(op->getOperand(0)) && dataDim(op->getOperand(1));
  if (!dynamic && !constantWeights)
    return false;
  const space::Projection &operand = space.operands[use.getOperandNumber()],
                          &result = space.results.front();
  const auto shape = shapeOf(broadcast.getInput());
  if (shape.size() != operand.rank() || shape.size() != result.rank())
    return false;
  for (unsigned axis = 0; axis < operand.rank(); ++axis)
    if (shape[axis] != 1 && operand.loopAlong(axis) != result.loopAlong(axis))
      return false;
  return dataDim(broadcast.getInput()) == dataDim(op->getResult(0));
}

/// The map without its factor.
Value without(MapOp map, const Factor &factor) {
  const unsigned kept = factor.op->getOperand(0) == map.getBody().getArgument(factor.operand);
  if (map.getBody().front().getTerminator()->getOperand(0) == factor.op->getResult(0))
    if (const Value rest = operandOf(map, factor.op->getOperand(kept)))
      return rest;
  IRMapping mapping;
  OpBuilder builder(map);
  auto result = llvm::cast<MapOp>(builder.clone(*map, mapping));
  Operation *op = mapping.lookup(factor.op);
  op->replaceAllUsesWith(ValueRange{op->getOperand(kept)});
  op->erase();
  result.getBody().eraseArgument(factor.operand);
  result->eraseOperand(factor.operand);
  forgetModelTensor(result);
  return result;
}

/// The product of what is left, and the factor behind it.
void sink(Operation *product, unsigned operand, Value rest, Factor factor) {
  OpBuilder builder(product);
  const auto type = typeOf(product->getResult(0));
  llvm::SmallVector<Value> operands(product->getOperands());
  operands[operand] = rest;
  const Value plain = cloneWith(product, builder, operands, type)->getResult(0);
  LineWriter write(product);
  const Value by = factor.broadcast.getInput();
  Value scaled =
      llvm::isa<arith::DivFOp>(factor.op) ? write.quotient(plain, by) : write.product(plain, by);
  scaled.setType(type);
  replaceOp(product, scaled);
}

struct SinkFactors : impl::SinkFactorsBase<SinkFactors> {
  using SinkFactorsBase::SinkFactorsBase;
  void runOnOperation() override { sinkFactors(getOperation(), constantWeights); }
};

} // namespace

/// The factor of a map that can be moved behind every product that reads the map.
static std::optional<Factor> sinkableFactor(MapOp map, bool constantWeights) {
  if (map->use_empty() || map.getInputs().size() < 2)
    return std::nullopt;
  const auto factor = factorOf(map, map.getBody().front().getTerminator()->getOperand(0));
  const bool sinks = factor && llvm::all_of(map->getUses(), [&](OpOperand &use) {
                       return passes(use, factor->broadcast, constantWeights);
                     });
  return sinks ? factor : std::nullopt;
}

bool sinksFactors(FunctionOpInterface function) {
  return function
      .walk([](MapOp map) {
        return sinkableFactor(map, /*constantWeights=*/true) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

unsigned sinkFactors(FunctionOpInterface function, bool constantWeights) {
  llvm::SmallVector<MapOp> maps;
  function.walk([&](MapOp map) { maps.push_back(map); });
  unsigned count = 0;
  for (MapOp map : maps) {
    const auto factor = sinkableFactor(map, constantWeights);
    if (!factor)
      continue;
    const Value rest = without(map, *factor);
    for (OpOperand &use : llvm::make_early_inc_range(map->getUses()))
      sink(use.getOwner(), use.getOperandNumber(), rest, *factor);
    map.erase();
    ++count;
  }
  return count;
}

} // namespace sluice::ir
