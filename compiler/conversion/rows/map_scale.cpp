#include "compiler/conversion/rows/map_scale.h"

#include <algorithm>
#include <cmath>

#include "compiler/dialect/sluice/tensors.h"
#include "compiler/reference/scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace sluice::rows {
namespace {

using reference::Function;

class Bounds {
public:
  Bounds(ir::MapOp map, ConstantValues &constants) : map(map), constants(constants) {}

  MapScale run() {
    Block &body = map.getBody().front();
    llvm::SmallDenseSet<Value> runtime;
    bool repeats = false; // a runtime value is read more than once
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), map.getInputs()))
      if (!ir::dataDim(input)) {
        fixed.insert(argument);
      } else {
        repeats |= !runtime.insert(input).second;
        repeats |= !argument.use_empty() && !argument.hasOneUse();
      }
    for (Operation &op : body.without_terminator()) {
      if (llvm::all_of(op.getOperands(), [&](Value value) { return fixed.contains(value); }))
        fixed.insert(op.getResult(0));
      else
        addStep(op);
      repeats |= !fixed.contains(op.getResult(0)) && !op.use_empty() && !op.hasOneUse();
    }
    scale.mayBeAffine &= runtime.size() == 1;
    if (scale.mayBeAffine && repeats) // terms may cancel
      forgetLeast();
    return scale;
  }

private:
  ir::MapOp map;
  ConstantValues &constants;
  llvm::SmallDenseSet<Value> fixed; ///< values of the body that depend on constants alone
  MapScale scale;

  void addStep(Operation &op) {
    switch (reference::functionOf(&op).value_or(Function::Select)) {
    case Function::Add:
    case Function::Sub:
    case Function::Neg:
    case Function::FromBool:
      break;
    case Function::Mul:
      if (fixed.contains(op.getOperand(0)) || fixed.contains(op.getOperand(1)))
        multiply(op.getOperand(fixed.contains(op.getOperand(0)) ? 0 : 1), false);
      else
        scale.mayBeAffine = false;
      break;
    case Function::Div:
      if (fixed.contains(op.getOperand(1)))
        multiply(op.getOperand(1), true);
      else
        scale.mayBeAffine = false;
      break;
    case Function::And:
    case Function::Or:
    case Function::Xor:
    case Function::Fma:
    case Function::Select:
      // A constant operand may decide alone.
      if (llvm::any_of(op.getOperands(), [&](Value value) { return fixed.contains(value); }))
        forgetLeast();
      break;
    default:
      scale.mayBeAffine = false;
    }
  }

  void forgetLeast() { scale.least = scale.leastOfLines = 0; }

  /// The smallest of the largest magnitudes in each line along the data dimension of the map.
  double leastOfLines(llvm::ArrayRef<float> values, bool divides) {
    const auto shape = ir::shapeOf(map.getResult());
    const auto dim = ir::dataDim(map.getResult());
    int64_t inner = 1, count = 1;
    for (const auto &[axis, extent] : llvm::enumerate(shape)) {
      count *= extent;
      if (dim && static_cast<int64_t>(axis) > *dim)
        inner *= extent;
    }
    if (!dim || shape.empty() || static_cast<int64_t>(values.size()) != count)
      return 0;
    const int64_t along = shape[*dim];
    double least = HUGE_VAL;
    for (int64_t line = 0; line < count / along; ++line) {
      const int64_t first = line / inner * inner * along + line % inner;
      double most = 0;
      for (int64_t i = 0; i < along; ++i) {
        const float value = values[first + i * inner];
        most = std::fmax(most, std::fabs(divides ? 1 / value : value));
      }
      least = std::min(least, most);
    }
    return least;
  }

  void multiply(Value factor, bool divides) {
    float one = 0;
    llvm::ArrayRef<float> values;
    if (const auto argument = llvm::dyn_cast<BlockArgument>(factor)) {
      values = constants.of(map.getInputs()[argument.getArgNumber()]);
    } else if (auto constant = factor.getDefiningOp<arith::ConstantOp>()) {
      one = static_cast<float>(reference::constantOf(constant));
      values = one;
    }
    double least = values.empty() ? 0 : HUGE_VAL;
    for (const float value : values) {
      const double magnitude = std::fabs(divides ? 1 / value : value);
      least = magnitude < least ? magnitude : std::isnan(magnitude) ? 0 : least;
      scale.hasOneSign &= std::signbit(value) == std::signbit(values.front());
      scale.isUniform &= value == values.front();
    }
    // At the largest factor of a line, the other factors are their least or more.
    const double ofLines = values.size() > 1 ? leastOfLines(values, divides) : least;
    scale.leastOfLines = std::max(scale.leastOfLines * least, scale.least * ofLines);
    scale.least *= least;
  }
};

} // namespace

MapScale scaleOf(ir::MapOp map, ConstantValues &constants) { return Bounds(map, constants).run(); }

} // namespace sluice::rows
