#include "compiler/reference/scalar.h"

#include <cassert>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace sluice::reference {
namespace {

bool isScalarType(mlir::Type type) { return type.isF32() || type.isInteger(1); }

} // namespace

bool isScalarOperation(mlir::Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperandTypes(), isScalarType) ||
      !isScalarType(op->getResult(0).getType()))
    return false;
  return llvm::isa<mlir::arith::ConstantOp>(op) || functionOf(op);
}

std::optional<Function> functionOf(mlir::Operation *op) {
  if (auto compare = llvm::dyn_cast<mlir::arith::CmpFOp>(op))
    return static_cast<Function>(static_cast<uint64_t>(Function::False) +
                                 static_cast<uint64_t>(compare.getPredicate()));
  return functionNamed(op->getName().getStringRef());
}

Applied appliedBy(mlir::Operation *op) {
  const std::optional<Function> function = functionOf(op);
  assert(function && "verified by the map");
  if (*function == Function::Log1p)
    if (mlir::Operation *inner = op->getOperand(0).getDefiningOp();
        inner && functionOf(inner) == Function::Exp)
      return {Function::Softplus, {inner->getOperand(0)}};
  return {*function, llvm::to_vector<3>(op->getOperands())};
}

double constantOf(mlir::arith::ConstantOp op) {
  if (auto real = llvm::dyn_cast<mlir::FloatAttr>(op.getValue()))
    return real.getValueAsDouble();
  return llvm::cast<mlir::IntegerAttr>(op.getValue()).getValue().isZero() ? 0 : 1;
}

ScalarProgram::ScalarProgram(mlir::Region &body)
    : ScalarProgram(body.front(), body.front().getTerminator()->getOperand(0)) {}

ScalarProgram::ScalarProgram(mlir::Block &block, mlir::Value scalar) {
  llvm::DenseMap<mlir::Value, unsigned> slots;
  for (mlir::Value argument : block.getArguments())
    slots[argument] = inputs++;
  for (mlir::Operation &op : block.without_terminator()) {
    Step step{};
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op)) {
      step.constant = constantOf(constant);
    } else {
      const Applied applied = appliedBy(&op);
      for (auto [i, operand] : llvm::enumerate(applied.operands))
        step.operands[i] = slots.at(operand);
      step.function = stepOf(applied.function);
    }
    slots[op.getResult(0)] = inputs + static_cast<unsigned>(steps.size());
    steps.push_back(step);
  }
  result = slots.at(scalar);
}

double ScalarProgram::operator()(llvm::ArrayRef<double> arguments) const {
  assert(arguments.size() == inputs && "one value per operand");
  llvm::SmallVector<double, 32> slots(arguments.begin(), arguments.end());
  for (const Step &step : steps) {
    if (!step.function) {
      slots.push_back(step.constant);
      continue;
    }
    const double operands[3] = {slots[step.operands[0]], slots[step.operands[1]],
                                slots[step.operands[2]]};
    slots.push_back(step.function(operands));
  }
  return slots[result];
}

double evaluateScalarMap(mlir::Region &body, llvm::ArrayRef<double> arguments) {
  return ScalarProgram(body)(arguments);
}

} // namespace sluice::reference
