#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/scalar.h"
#include "compiler/transforms/erase_unread.h"
#include "compiler/transforms/map_operands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_ARGMAXBEFOREMAPS
#include "compiler/transforms/passes.h.inc"

namespace {

using reference::Function;

/// Whether the elements of a value are equal along an axis: it is a broadcast along it.
bool isSameAlong(Value value, int64_t axis) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast || shapeOf(value)[axis] == 1)
    return false;
  const Value input = broadcast.getInput();
  return shapeOf(input).size() == shapeOf(value).size() && shapeOf(input)[axis] == 1;
}

/// Whether a value is a sum of exponentials, which is positive.
bool isSumOfExponentials(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  auto sum = value.getDefiningOp<ReduceOp>();
  Operation *last = sum && sum.getMonoid() == Monoid::Sum
                        ? lastOf(sum.getInput().getDefiningOp<MapOp>())
                        : nullptr;
  return last && reference::functionOf(last) == Function::Exp;
}

/// Follows a map back to the operand that decides which of its elements along an axis is the
/// greatest.
class Increasing {
public:
  Increasing(MapOp map, int64_t axis) : map(map), axis(axis) {}

  /// Returns the operand of which the map is a strictly increasing function along the axis, or
  /// null.
  [[nodiscard]] Value operand() {
    Value scalar = map.getBody().front().getTerminator()->getOperand(0);
    while (scalar && !llvm::isa<BlockArgument>(scalar))
      scalar = before(scalar.getDefiningOp());
    const Value found = scalar ? operandOf(map, scalar) : Value();
    const bool isKnown = found && dataDim(map.getResult()) && !dataDim(found);
    return found && !isKnown && !isSameAlong(found, axis) ? found : Value();
  }

private:
  MapOp map;
  int64_t axis;

  /// Whether it is the same number for all elements along the axis.
  [[nodiscard]] bool isSame(Value scalar) {
    const Value input = operandOf(map, scalar);
    return input ? isSameAlong(input, axis) : matchPattern(scalar, m_Constant());
  }

  /// Whether it is the same positive number for all elements along the axis.
  [[nodiscard]] bool isPositive(Value scalar) {
    llvm::APFloat number(0.0F);
    if (matchPattern(scalar, m_ConstantFloat(&number)))
      return number.isFiniteNonZero() && !number.isNegative();
    const Value input = operandOf(map, scalar);
    return input && isSameAlong(input, axis) && isSumOfExponentials(input);
  }

  /// Returns the operand of an operation that increases strictly with it, or null.
  [[nodiscard]] Value before(Operation *op) {
    const auto function = reference::functionOf(op);
    if (!function)
      return nullptr;
    switch (*function) {
    case Function::Exp:
      return op->getOperand(0);
    case Function::Add:
      return isSame(op->getOperand(1))   ? op->getOperand(0)
             : isSame(op->getOperand(0)) ? op->getOperand(1)
                                         : Value();
    case Function::Sub:
      return isSame(op->getOperand(1)) ? op->getOperand(0) : Value();
    case Function::Mul:
      return isPositive(op->getOperand(1))   ? op->getOperand(0)
             : isPositive(op->getOperand(0)) ? op->getOperand(1)
                                             : Value();
    case Function::Div:
      return isPositive(op->getOperand(1)) ? op->getOperand(0) : Value();
    default:
      return nullptr;
    }
  }
};

struct ArgMaxBeforeMaps : impl::ArgMaxBeforeMapsBase<ArgMaxBeforeMaps> {
  void runOnOperation() override {
    getOperation()->walk([](ReduceOp reduce) {
      if (reduce.getMonoid() != Monoid::ArgMax || reduce.getAxes().size() != 1)
        return;
      while (auto map = reduce.getInput().getDefiningOp<MapOp>()) {
        const Value operand = Increasing(map, reduce.getAxes().front()).operand();
        // If others read the map too, it is computed anyway.
        if (!operand || !map.getResult().hasOneUse())
          break;
        reduce.getInputMutable().assign(operand);
        eraseUnread(map.getOperation());
      }
    });
  }
};

} // namespace
} // namespace sluice::ir
