#include "compiler/conversion/rows/value_numbers.h"

#include <algorithm>
#include <cmath>

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/rows/map_body.h"
#include "compiler/conversion/scalar/constants.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/folding.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::rows {
namespace {

using numerics::bf16ToDouble;

/// A sum of more products may be computed in parts, which are rounded (GraphBuilder::linear).
constexpr double kMostProducts = 7'224, kMostSummed = 14'392;

Number constantNumber(const reference::Tensor &tensor) {
  Number number = Number::exact(0, 0, true);
  bool isFirst = true, isRounded = false;
  for (const double value : tensor.values) {
    number.low = isFirst ? value : std::min(number.low, value);
    number.high = isFirst ? value : std::max(number.high, value);
    number.isInteger &= value == std::trunc(value);
    isFirst = false;
    isRounded |= bf16ToDouble(roundToBf16(withinBf16(value))) != value;
  }
  return isRounded ? stored(number) : number;
}

/// The sum of `count` products of two numbers.
Number sumOf(const Number &a, const Number &b, double count, double mostInOneSum) {
  Number sum;
  const double each = a.most() * b.most();
  sum.high = count * each;
  sum.low = -sum.high;
  sum.isInteger = a.isInteger && b.isInteger;
  const double farA = a.distance + (a.share == 0 ? 0 : a.share * a.most()),
               farB = b.distance + (b.share == 0 ? 0 : b.share * b.most());
  sum.distance =
      a.isExact() && b.isExact() ? 0 : count * (farA * b.most() + farB * a.most() + farA * farB);
  if (count > mostInOneSum)
    sum.distance += 0x1p-8 * sum.high;
  if (std::isnan(sum.high) || std::isnan(sum.distance))
    return {};
  return sum;
}

class Numbers {
public:
  Numbers(func::FuncOp function, const std::vector<Number> &inputs) {
    Block &block = function.getBody().front();
    for (const auto &[argument, number] : llvm::zip(block.getArguments(), inputs))
      known[argument] = number;
    for (Operation &op : block.without_terminator())
      if (op.getNumResults() == 1)
        known[op.getResult(0)] = of(op);
  }

  ValueNumbers known;

private:
  Number numberOf(Value value) {
    if (const auto found = known.find(value); found != known.end())
      return found->second;
    return {};
  }

  /// As an operation other than a map reads it: from a row.
  Number read(Value value) {
    return ir::isConstant(value) ? numberOf(value) : stored(numberOf(value));
  }

  Number of(Operation &op) {
    if (auto constant = llvm::dyn_cast<ir::ConstantOp>(op))
      return constantNumber(*ir::constantValue(constant.getResult()));
    if (auto map = llvm::dyn_cast<ir::MapOp>(op))
      return ofMap(map);
    if (auto reduce = llvm::dyn_cast<ir::ReduceOp>(op))
      return ofReduction(reduce);
    if (llvm::isa<ir::ViewInterface>(op) && op.getNumOperands() > 0)
      return ofView(op);
    if (llvm::isa<ir::MatmulOp, ir::ContractOp>(op) && isProduct(&op)) {
      const Loops loops = loopsOf(&op);
      double count = 1;
      for (size_t i = 0; i < loops.extents.size(); ++i)
        if (loops.result[i] == 0)
          count *= static_cast<double>(loops.extents[i]);
      return sumOf(read(op.getOperand(0)), read(op.getOperand(1)), count, kMostProducts);
    }
    return {};
  }

  Number ofMap(ir::MapOp map) {
    Expr expr;
    std::vector<Number> inputs;
    std::vector<NodeId> arguments;
    for (Value operand : map.getInputs()) {
      arguments.push_back(expr.input(static_cast<uint32_t>(inputs.size())));
      inputs.push_back(numberOf(operand));
    }
    expr.result = importBody(expr, map.getBody(), arguments);
    return numbersOf(expr, inputs)[expr.result];
  }

  Number ofReduction(ir::ReduceOp reduce) {
    const Number x = read(reduce.getInput());
    double count = 1;
    for (const int64_t axis : reduce.getAxes())
      count *= static_cast<double>(ir::shapeOf(reduce.getInput())[axis]);
    switch (reduce.getMonoid()) {
    case ir::Monoid::Max:
    case ir::Monoid::Min:
      return x;
    case ir::Monoid::Sum:
    case ir::Monoid::Mean: {
      const bool isMean = reduce.getMonoid() == ir::Monoid::Mean;
      Number sum = sumOf(x, Number::exact(1, 1, true), count, kMostSummed);
      if (x.low >= 0 && x.distance == 0 && count <= kMostSummed) {
        sum.low = 0;
        sum.distance = 0;
        sum.share = x.share; // no two of the numbers cancel
      }
      if (isMean) {
        sum.low /= count;
        sum.high /= count;
        sum.distance /= count;
        sum.isInteger = false;
        sum = stored(sum);
      }
      return sum;
    }
    default:
      return {};
    }
  }

  Number ofView(Operation &op) {
    Number number = read(op.getOperand(0));
    for (Value operand : llvm::drop_begin(op.getOperands()))
      number = either(number, read(operand));
    if (llvm::cast<ir::ViewInterface>(op).addsElements()) {
      const auto value = op.getAttrOfType<FloatAttr>("value");
      const double element = value ? value.getValueAsDouble() : 0;
      // No maximum of a window is what lies outside of it.
      if (std::fabs(element) < 1e30)
        number = either(number, Number::exact(element, element, element == std::trunc(element)));
    }
    return number;
  }
};

} // namespace

ValueNumbers numbersOf(func::FuncOp function, const std::vector<Number> &inputs) {
  return std::move(Numbers(function, inputs).known);
}

} // namespace sluice::rows
