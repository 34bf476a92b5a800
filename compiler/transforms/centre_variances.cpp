#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/scalar.h"
#include "compiler/transforms/line_writer.h"
#include "compiler/transforms/map_operands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_CENTREVARIANCES
#include "compiler/transforms/passes.h.inc"

namespace {

using reference::Function;

/// Returns the only operation of a map, or null if it has several.
Operation *onlyOperation(MapOp map) {
  Block &body = map.getBody().front();
  Operation *op = body.getTerminator()->getOperand(0).getDefiningOp();
  // A constant may stand before it.
  for (Operation &other : body.without_terminator())
    if (&other != op && !llvm::isa<arith::ConstantOp>(other))
      return nullptr;
  return op;
}

/// Returns x if the value is x * x or x to the power of two, else null.
Value squareOf(Value value) {
  auto map = value.getDefiningOp<MapOp>();
  Operation *op = map ? onlyOperation(map) : nullptr;
  const auto function = op ? reference::functionOf(op) : std::nullopt;
  if (function != Function::Mul && function != Function::Pow)
    return nullptr;
  const Value x = operandOf(map, op->getOperand(0));
  if (function == Function::Mul)
    return x && x == operandOf(map, op->getOperand(1)) ? x : nullptr;
  auto power = op->getOperand(1).getDefiningOp<arith::ConstantOp>();
  const auto real = power ? llvm::dyn_cast<FloatAttr>(power.getValue()) : FloatAttr();
  return real && real.getValueAsDouble() == 2 ? x : nullptr;
}

ReduceOp meanOf(Value value) {
  auto reduce = value ? value.getDefiningOp<ReduceOp>() : ReduceOp();
  return reduce && reduce.getMonoid() == Monoid::Mean ? reduce : ReduceOp();
}

/// Replaces mean(x * x) - mean(x) * mean(x) by the mean of the squared distances. The difference
/// cancels where the mean is large against the deviations.
void centreVariance(MapOp map) {
  Operation *subtraction = onlyOperation(map);
  const auto difference = subtraction && reference::functionOf(subtraction) == Function::Sub
                              ? operandsOf(map, subtraction)
                              : std::nullopt;
  if (!difference)
    return;
  ReduceOp squares = meanOf(difference->first), mean = meanOf(squareOf(difference->second));
  if (!squares || !mean || squareOf(squares.getInput()) != mean.getInput() ||
      squares.getAxes() != mean.getAxes() || squares.getKeepdims() != mean.getKeepdims())
    return;
  const Value x = mean.getInput();
  LineWriter write(map);
  const Value distance = write.difference(x, write.reduce(Monoid::Mean, x, mean.getAxes()));
  const Value square = write.map(distance, [](OpBuilder &b, Location where, ValueRange v) -> Value {
    return b.create<arith::MulFOp>(where, v[0], v[0]);
  });
  OpBuilder builder(map);
  replaceOp(map, cloneWith(squares, builder, square, squares.getType())->getResult(0));
}

struct CentreVariances : impl::CentreVariancesBase<CentreVariances> {
  void runOnOperation() override {
    llvm::SmallVector<MapOp> maps;
    getOperation()->walk([&](MapOp map) { maps.push_back(map); });
    llvm::for_each(maps, centreVariance);
  }
};

} // namespace
} // namespace sluice::ir
