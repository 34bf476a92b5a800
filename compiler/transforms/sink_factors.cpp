#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/dialect.h"
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
std::optional<Factor> factorOf(MapOp map, Value value) {
  Operation *op = value.getDefiningOp();
  if (!llvm::isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op) || !value.hasOneUse())
    return std::nullopt;
  const bool divides = llvm::isa<arith::DivFOp>(op);
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
  for (const unsigned side : {0U, 1U})
    if (side == 0 || !divides)
      if (const auto found = factorOf(map, op->getOperand(side)))
        return found;
  return std::nullopt;
}

/// Whether a factor of one operand is as well one of the product: it does not vary
/// along the axis that is summed over, and lies along the lanes like the result.
bool passes(OpOperand &use, BroadcastOp broadcast, bool constantWeights) {
  auto product = llvm::dyn_cast<MatmulOp>(use.getOwner());
  if (!product || product.getLhs() == product.getRhs())
    return false;
  const bool dynamic = dataDim(product.getLhs()) && dataDim(product.getRhs());
  if (!dynamic && !constantWeights)
    return false;
  const auto shape = shapeOf(broadcast.getInput()), result = shapeOf(product.getResult());
  const size_t rank = result.size();
  if (rank < 2 || shape.size() != rank || shapeOf(use.get()).size() != rank)
    return false;
  const size_t summed = use.getOperandNumber() == 0 ? rank - 1 : rank - 2;
  return shape[summed] == 1 && dataDim(broadcast.getInput()) == dataDim(product.getResult());
}

/// The map without its factor.
Value without(MapOp map, const Factor &factor) {
  Operation *const yield = map.getBody().front().getTerminator();
  const unsigned kept = factor.op->getOperand(0) == map.getBody().getArgument(factor.operand);
  const Value rest = factor.op->getOperand(kept);
  llvm::SmallVector<Value> inputs(map.getInputs());
  inputs.erase(inputs.begin() + factor.operand);
  if (yield->getOperand(0) == factor.op->getResult(0))
    if (const auto argument = llvm::dyn_cast<BlockArgument>(rest))
      return map.getInputs()[argument.getArgNumber()];
  OpBuilder builder(map);
  auto result = builder.create<MapOp>(
      map.getLoc(), inputs, [&](OpBuilder &b, Location, ValueRange arguments) -> Value {
        IRMapping mapping;
        unsigned next = 0;
        for (BlockArgument argument : map.getBody().getArguments())
          if (argument.getArgNumber() != factor.operand)
            mapping.map(argument, arguments[next++]);
        for (Operation &op : map.getBody().front().without_terminator())
          if (&op == factor.op)
            mapping.map(op.getResult(0), mapping.lookupOrDefault(rest));
          else
            b.clone(op, mapping);
        return mapping.lookupOrDefault(yield->getOperand(0));
      });
  result.getResult().setType(map.getType());
  return result;
}

/// The product of what is left, and the factor behind it.
void sink(MatmulOp product, unsigned operand, Value rest, Factor factor) {
  OpBuilder builder(product);
  const auto type = llvm::cast<RankedTensorType>(product.getType());
  auto plain = builder.create<MatmulOp>(product.getLoc(), operand == 0 ? rest : product.getLhs(),
                                        operand == 1 ? rest : product.getRhs());
  plain.getResult().setType(type);
  auto broadcast = builder.create<BroadcastOp>(factor.broadcast.getLoc(),
                                               factor.broadcast.getInput(), type.getShape());
  broadcast.getResult().setType(type);
  const bool divides = llvm::isa<arith::DivFOp>(factor.op);
  auto scaled =
      builder.create<MapOp>(product.getLoc(), ValueRange{plain.getResult(), broadcast.getResult()},
                            [&](OpBuilder &b, Location where, ValueRange v) -> Value {
                              if (divides)
                                return b.create<arith::DivFOp>(where, v[0], v[1]);
                              return b.create<arith::MulFOp>(where, v[0], v[1]);
                            });
  scaled.getResult().setType(type);
  product.replaceAllUsesWith(scaled.getResult());
  product.erase();
}

struct SinkFactors : impl::SinkFactorsBase<SinkFactors> {
  using SinkFactorsBase::SinkFactorsBase;
  void runOnOperation() override { sinkFactors(getOperation(), constantWeights); }
};

} // namespace

unsigned sinkFactors(FunctionOpInterface function, bool constantWeights) {
  llvm::SmallVector<MapOp> maps;
  function.walk([&](MapOp map) { maps.push_back(map); });
  unsigned count = 0;
  for (MapOp map : maps) {
    const auto factor = factorOf(map, map.getBody().front().getTerminator()->getOperand(0));
    if (!factor || map->use_empty() || map.getInputs().size() < 2 ||
        !llvm::all_of(map->getUses(), [&](OpOperand &use) {
          return passes(use, factor->broadcast, constantWeights);
        }))
      continue;
    const Value rest = without(map, *factor);
    for (OpOperand &use : llvm::make_early_inc_range(map->getUses()))
      sink(llvm::cast<MatmulOp>(use.getOwner()), use.getOperandNumber(), rest, *factor);
    map.erase();
    ++count;
  }
  return count;
}

} // namespace sluice::ir
