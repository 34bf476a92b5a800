#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/scalar.h"
#include "compiler/transforms/view_patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_CENTREMEANS
#include "compiler/transforms/passes.h.inc"

namespace {

using reference::Function;

/// The operation that is all that a map computes, or null.
Operation *onlyOperation(MapOp map) {
  Block &body = map.getBody().front();
  Operation *op = body.getTerminator()->getOperand(0).getDefiningOp();
  // A constant may stand before it.
  for (Operation &other : body.without_terminator())
    if (&other != op && !llvm::isa<arith::ConstantOp>(other))
      return nullptr;
  return op;
}

/// The operands of a map that is the difference of two.
std::optional<std::pair<Value, Value>> differenceOf(MapOp map) {
  Operation *op = map ? onlyOperation(map) : nullptr;
  if (!op || reference::functionOf(op) != Function::Sub)
    return std::nullopt;
  const auto left = llvm::dyn_cast<BlockArgument>(op->getOperand(0)),
             right = llvm::dyn_cast<BlockArgument>(op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  return std::pair<Value, Value>(map.getInputs()[left.getArgNumber()],
                                 map.getInputs()[right.getArgNumber()]);
}

/// The operand of a map that is its square: x * x, or x to the power of two.
Value squareOf(Value value) {
  auto map = value.getDefiningOp<MapOp>();
  Operation *op = map ? onlyOperation(map) : nullptr;
  const auto function = op ? reference::functionOf(op) : std::nullopt;
  if (function != Function::Mul && function != Function::Pow)
    return nullptr;
  const auto inputOf = [&](Value operand) -> Value {
    const auto argument = llvm::dyn_cast<BlockArgument>(operand);
    return argument ? Value(map.getInputs()[argument.getArgNumber()]) : Value();
  };
  const Value x = inputOf(op->getOperand(0));
  if (function == Function::Mul)
    return x && x == inputOf(op->getOperand(1)) ? x : nullptr;
  auto power = op->getOperand(1).getDefiningOp<arith::ConstantOp>();
  const auto real = power ? llvm::dyn_cast<FloatAttr>(power.getValue()) : FloatAttr();
  return real && real.getValueAsDouble() == 2 ? x : nullptr;
}

ReduceOp meanOf(Value value) {
  auto reduce = value ? value.getDefiningOp<ReduceOp>() : ReduceOp();
  return reduce && reduce.getMonoid() == Monoid::Mean ? reduce : ReduceOp();
}

/// The mean that a broadcast of an operand of its shape repeats, or null.
ReduceOp repeatedMean(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  const Value kept = broadcast.getInput();
  if (ReduceOp mean = meanOf(kept); mean && mean.getKeepdims())
    return mean;
  auto unsqueeze = kept.getDefiningOp<UnsqueezeOp>();
  ReduceOp mean = unsqueeze ? meanOf(unsqueeze.getInput()) : ReduceOp();
  return mean && !mean.getKeepdims() && unsqueeze.getAxes() == mean.getAxes() ? mean : ReduceOp();
}

/// Writes operations with the location and the layout of a value.
class Writer {
public:
  using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

  Writer(Operation *before, Value like)
      : builder(before), where(before->getLoc()),
        layout(llvm::cast<RankedTensorType>(like.getType())) {}

  Value reduce(Monoid monoid, Value x, llvm::ArrayRef<int64_t> axes) {
    return laidOut(builder.create<ReduceOp>(where, monoid, x, axes, /*keepdims=*/true));
  }
  Value broadcast(Value x) {
    return laidOut(builder.create<BroadcastOp>(where, x, layout.getShape()));
  }
  Value map(ValueRange operands, Body body) {
    return laidOut(builder.create<MapOp>(where, operands, body));
  }
  Value difference(Value left, Value right) {
    return map({left, right}, [](OpBuilder &b, Location where, ValueRange v) -> Value {
      return b.create<arith::SubFOp>(where, v[0], v[1]);
    });
  }

private:
  Value laidOut(Value value) {
    value.setType(withShape(layout, shapeOf(value), dataDim(layout)));
    return value;
  }

  OpBuilder builder;
  Location where;
  RankedTensorType layout;
};

/// mean(x * x) - mean(x) * mean(x) cancels where the mean is large against the deviations: the mean
/// of the squared distances does not.
void varianceOf(MapOp map) {
  const auto difference = differenceOf(map);
  if (!difference)
    return;
  ReduceOp squares = meanOf(difference->first), mean = meanOf(squareOf(difference->second));
  if (!squares || !mean || squareOf(squares.getInput()) != mean.getInput() ||
      squares.getAxes() != mean.getAxes() || squares.getKeepdims() != mean.getKeepdims())
    return;
  const Value x = mean.getInput();
  Writer writer(map, x);
  const Value distance =
      writer.difference(x, writer.broadcast(writer.reduce(Monoid::Mean, x, mean.getAxes())));
  const Value square =
      writer.map(distance, [](OpBuilder &b, Location where, ValueRange v) -> Value {
        return b.create<arith::MulFOp>(where, v[0], v[0]);
      });
  OpBuilder builder(map);
  Operation *variance = builder.clone(*squares);
  variance->setOperand(0, square);
  forgetModelTensor(variance);
  keepModelTensor(map.getResult(), variance->getResult(0));
  map.getResult().replaceAllUsesWith(variance->getResult(0));
  map.erase();
}

/// x - mean(x), where a mean that is rounded would leave every distance off by what it is rounded
/// by: the rest of the mean is taken off as well. A mean that no other row reads is not rounded.
void centre(MapOp map, int64_t lanes) {
  const auto difference = differenceOf(map);
  if (!difference)
    return;
  ReduceOp mean = repeatedMean(difference->second);
  const Value x = difference->first;
  if (!mean || mean.getInput() != x || !dataDim(x) ||
      dataDim(difference->second.getDefiningOp()->getOperand(0)) != dataDim(x))
    return;
  const auto shape = shapeOf(x);
  int64_t count = 1;
  for (const int64_t axis : mean.getAxes())
    count *= shape[axis];
  const bool inOneRow = mean.getAxes() == llvm::ArrayRef(*dataDim(x)) && count <= lanes;
  if (count == 1 || (inOneRow && llvm::isPowerOf2_64(count)))
    return;
  const double share = 1.0 / static_cast<double>(count);
  const auto scaled = [share](OpBuilder &b, Location where, Value sum) -> Value {
    const Value factor =
        b.create<arith::ConstantOp>(where, b.getF32FloatAttr(static_cast<float>(share)));
    return b.create<arith::MulFOp>(where, sum, factor);
  };
  Writer writer(map, x);
  const Value sum = writer.reduce(Monoid::Sum, x, mean.getAxes());
  Value centred;
  if (inOneRow) {
    centred = writer.map({x, writer.broadcast(sum)},
                         [&](OpBuilder &b, Location where, ValueRange v) -> Value {
                           return b.create<arith::SubFOp>(where, v[0], scaled(b, where, v[1]));
                         });
  } else {
    const Value kept = difference->second.getDefiningOp<BroadcastOp>().getInput();
    const Value rest =
        writer.map({sum, kept}, [&](OpBuilder &b, Location where, ValueRange v) -> Value {
          return b.create<arith::SubFOp>(where, scaled(b, where, v[0]), v[1]);
        });
    centred = writer.map({x, difference->second, writer.broadcast(rest)},
                         [](OpBuilder &b, Location where, ValueRange v) -> Value {
                           const Value first = b.create<arith::SubFOp>(where, v[0], v[1]);
                           return b.create<arith::SubFOp>(where, first, v[2]);
                         });
  }
  keepModelTensor(map.getResult(), centred);
  map.getResult().replaceAllUsesWith(centred);
  map.erase();
}

struct CentreMeans : impl::CentreMeansBase<CentreMeans> {
  using CentreMeansBase::CentreMeansBase;

  void runOnOperation() override {
    forEachMap([](MapOp map) { varianceOf(map); });
    forEachMap([this](MapOp map) { centre(map, lanes); });
  }

private:
  void forEachMap(llvm::function_ref<void(MapOp)> function) {
    llvm::SmallVector<MapOp> maps;
    getOperation()->walk([&](MapOp map) { maps.push_back(map); });
    llvm::for_each(maps, function);
  }
};

} // namespace
} // namespace sluice::ir
