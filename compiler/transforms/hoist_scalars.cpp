#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/cone.h"
#include "compiler/dialect/sluice/operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_HOISTSCALARS
#include "compiler/transforms/passes.h.inc"

namespace {

/// The part of a map's body that depends on one broadcast operand alone.
class Part {
public:
  Part(MapOp map, unsigned operand)
      : map(map), operand(operand), argument(map.getBody().getArgument(operand)) {}

  /// Finds the one value that the rest of the body needs of it; false if there is
  /// none, or none that is computed.
  bool find() {
    for (Operation &op : map.getBody().front().without_terminator())
      if (op.getNumOperands() != 0 && llvm::all_of(op.getOperands(), [&](Value value) {
            return depends(value) || value.getDefiningOp<arith::ConstantOp>();
          }))
        ops.insert(&op);
    bool direct = false;
    llvm::SmallVector<Value> values{argument};
    for (Operation *op : ops)
      values.append(op->result_begin(), op->result_end());
    for (Value candidate : values)
      for (OpOperand &use : candidate.getUses()) {
        if (ops.contains(use.getOwner()))
          continue;
        if (value && value != candidate)
          return false;
        value = candidate;
        if (llvm::isa<arith::DivFOp>(use.getOwner()) && use.getOperandNumber() == 1)
          divisions.push_back(llvm::cast<arith::DivFOp>(use.getOwner()));
        else
          direct = true;
      }
    return value && value.getType().isF32() && direct == divisions.empty() &&
           (value != argument || !divisions.empty());
  }

  /// Computes it from the operand of the broadcast.
  MapOp computeFrom(Value source) {
    OpBuilder builder(map);
    auto body = [&](OpBuilder &b, Location location, ValueRange arguments) {
      IRMapping mapping;
      mapping.map(argument, arguments[0]);
      for (Operation *op : coneOf(value).body)
        b.clone(*op, mapping);
      const Value result = mapping.lookup(value);
      if (divisions.empty())
        return result;
      const Value one = b.create<arith::ConstantOp>(location, b.getF32FloatAttr(1));
      return b.create<arith::DivFOp>(location, one, result).getResult();
    };
    auto computed = builder.create<MapOp>(map.getLoc(), source, body);
    computed.getResult().setType(typeOf(source));
    return computed;
  }

  /// Takes it from the operand, which now has it.
  void replaceInMap(Value computed) {
    map->setOperand(operand, computed);
    if (divisions.empty())
      value.replaceUsesWithIf(argument,
                              [&](OpOperand &use) { return !ops.contains(use.getOwner()); });
    for (arith::DivFOp division : divisions) {
      OpBuilder builder(division);
      division.replaceAllUsesWith(
          builder.create<arith::MulFOp>(division.getLoc(), division.getLhs(), argument)
              .getResult());
      division.erase();
    }
    for (Operation *op : llvm::reverse(ops.getArrayRef()))
      op->erase();
  }

private:
  bool depends(Value value) const {
    return value == argument || (value.getDefiningOp() && ops.contains(value.getDefiningOp()));
  }

  MapOp map;
  unsigned operand;
  Value argument;
  llvm::SetVector<Operation *> ops;
  Value value;                                ///< what the rest needs
  llvm::SmallVector<arith::DivFOp> divisions; ///< by it
};

struct HoistScalars : impl::HoistScalarsBase<HoistScalars> {
  void runOnOperation() override {
    llvm::SmallVector<BroadcastOp> broadcasts;
    getOperation()->walk([&](BroadcastOp op) { broadcasts.push_back(op); });
    for (BroadcastOp broadcast : broadcasts) {
      // Only where it becomes part of a map that is computed anyway.
      auto source = broadcast.getInput().getDefiningOp<MapOp>();
      if (!source || !source->hasOneUse() || !broadcast->hasOneUse())
        continue;
      OpOperand &use = *broadcast->use_begin();
      auto map = llvm::dyn_cast<MapOp>(use.getOwner());
      if (!map)
        continue;
      Part part(map, use.getOperandNumber());
      if (!part.find())
        continue;
      MapOp computed = part.computeFrom(broadcast.getInput());
      OpBuilder builder(map);
      part.replaceInMap(
          cloneWith(broadcast, builder, computed.getResult(), broadcast.getType())->getResult(0));
      broadcast.erase();
    }
  }
};

} // namespace
} // namespace sluice::ir
