#include "compiler/reference/scalar.h"

#include <cassert>
#include <cmath>
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace sluice::reference {
namespace {

using Function = double (*)(const double *);

template <double (*F)(double)> double unary(const double *x) { return F(x[0]); }
template <double (*F)(double, double)> double binary(const double *x) { return F(x[0], x[1]); }

double maximum(const double *x) {
  if (std::isnan(x[0]) || std::isnan(x[1]))
    return std::numeric_limits<double>::quiet_NaN();
  if (x[0] == x[1])
    return std::signbit(x[0]) ? x[1] : x[0];
  return x[0] > x[1] ? x[0] : x[1];
}

double minimum(const double *x) {
  if (std::isnan(x[0]) || std::isnan(x[1]))
    return std::numeric_limits<double>::quiet_NaN();
  if (x[0] == x[1])
    return std::signbit(x[0]) ? x[0] : x[1];
  return x[0] < x[1] ? x[0] : x[1];
}

/// Operations by name; comparisons, constants and casts are decoded below.
const llvm::StringMap<Function> &functions() {
  static const llvm::StringMap<Function> table = {
      {"arith.addf", [](const double *x) { return x[0] + x[1]; }},
      {"arith.subf", [](const double *x) { return x[0] - x[1]; }},
      {"arith.mulf", [](const double *x) { return x[0] * x[1]; }},
      {"arith.divf", [](const double *x) { return x[0] / x[1]; }},
      {"arith.remf", binary<std::fmod>},
      {"arith.negf", [](const double *x) { return -x[0]; }},
      {"arith.maximumf", maximum},
      {"arith.minimumf", minimum},
      {"arith.maxnumf", binary<std::fmax>},
      {"arith.minnumf", binary<std::fmin>},
      {"arith.select", [](const double *x) { return x[0] != 0 ? x[1] : x[2]; }},
      {"arith.uitofp", [](const double *x) { return x[0]; }},
      {"arith.andi", [](const double *x) { return x[0] * x[1]; }},
      {"arith.ori", [](const double *x) { return std::fmax(x[0], x[1]); }},
      {"arith.xori", [](const double *x) { return static_cast<double>(x[0] != x[1]); }},
      {"math.absf", unary<std::fabs>},
      {"math.acos", unary<std::acos>},
      {"math.acosh", unary<std::acosh>},
      {"math.asin", unary<std::asin>},
      {"math.asinh", unary<std::asinh>},
      {"math.atan", unary<std::atan>},
      {"math.atan2", binary<std::atan2>},
      {"math.atanh", unary<std::atanh>},
      {"math.cbrt", unary<std::cbrt>},
      {"math.ceil", unary<std::ceil>},
      {"math.copysign", binary<std::copysign>},
      {"math.cos", unary<std::cos>},
      {"math.cosh", unary<std::cosh>},
      {"math.erf", unary<std::erf>},
      {"math.exp", unary<std::exp>},
      {"math.exp2", unary<std::exp2>},
      {"math.expm1", unary<std::expm1>},
      {"math.floor", unary<std::floor>},
      {"math.fma", [](const double *x) { return std::fma(x[0], x[1], x[2]); }},
      {"math.log", unary<std::log>},
      {"math.log10", unary<std::log10>},
      {"math.log1p", unary<std::log1p>},
      {"math.log2", unary<std::log2>},
      {"math.powf", binary<std::pow>},
      {"math.round", unary<std::round>},
      {"math.roundeven", unary<std::nearbyint>},
      {"math.rsqrt", [](const double *x) { return 1 / std::sqrt(x[0]); }},
      {"math.sin", unary<std::sin>},
      {"math.sinh", unary<std::sinh>},
      {"math.sqrt", unary<std::sqrt>},
      {"math.tan", unary<std::tan>},
      {"math.tanh", unary<std::tanh>},
      {"math.trunc", unary<std::trunc>},
  };
  return table;
}

bool unordered(const double *x) { return std::isnan(x[0]) || std::isnan(x[1]); }

Function comparison(mlir::arith::CmpFPredicate predicate) {
  using P = mlir::arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return [](const double *) { return 0.0; };
  case P::OEQ:
    return [](const double *x) { return static_cast<double>(x[0] == x[1]); };
  case P::OGT:
    return [](const double *x) { return static_cast<double>(x[0] > x[1]); };
  case P::OGE:
    return [](const double *x) { return static_cast<double>(x[0] >= x[1]); };
  case P::OLT:
    return [](const double *x) { return static_cast<double>(x[0] < x[1]); };
  case P::OLE:
    return [](const double *x) { return static_cast<double>(x[0] <= x[1]); };
  case P::ONE:
    return [](const double *x) { return static_cast<double>(!unordered(x) && x[0] != x[1]); };
  case P::ORD:
    return [](const double *x) { return static_cast<double>(!unordered(x)); };
  case P::UEQ:
    return [](const double *x) { return static_cast<double>(unordered(x) || x[0] == x[1]); };
  case P::UGT:
    return [](const double *x) { return static_cast<double>(!(x[0] <= x[1])); };
  case P::UGE:
    return [](const double *x) { return static_cast<double>(!(x[0] < x[1])); };
  case P::ULT:
    return [](const double *x) { return static_cast<double>(!(x[0] >= x[1])); };
  case P::ULE:
    return [](const double *x) { return static_cast<double>(!(x[0] > x[1])); };
  case P::UNE:
    return [](const double *x) { return static_cast<double>(x[0] != x[1]); };
  case P::UNO:
    return [](const double *x) { return static_cast<double>(unordered(x)); };
  case P::AlwaysTrue:
    return [](const double *) { return 1.0; };
  }
  return nullptr;
}

bool isScalarType(mlir::Type type) { return type.isF32() || type.isInteger(1); }

} // namespace

bool isScalarOperation(mlir::Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperandTypes(), isScalarType) ||
      !isScalarType(op->getResult(0).getType()))
    return false;
  return llvm::isa<mlir::arith::ConstantOp, mlir::arith::CmpFOp>(op) ||
         functions().contains(op->getName().getStringRef());
}

ScalarStep scalarStep(mlir::Operation *op) {
  if (auto compare = llvm::dyn_cast<mlir::arith::CmpFOp>(op))
    return comparison(compare.getPredicate());
  return functions().lookup(op->getName().getStringRef());
}

ScalarProgram::ScalarProgram(mlir::Region &body) {
  mlir::Block &block = body.front();
  llvm::DenseMap<mlir::Value, unsigned> slots;
  for (mlir::Value argument : block.getArguments())
    slots[argument] = inputs++;
  for (mlir::Operation &op : block.without_terminator()) {
    Step step{};
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      step.operands[i] = slots.at(operand);
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op)) {
      if (auto real = llvm::dyn_cast<mlir::FloatAttr>(constant.getValue()))
        step.constant = real.getValueAsDouble();
      else
        step.constant =
            llvm::cast<mlir::IntegerAttr>(constant.getValue()).getValue().isZero() ? 0 : 1;
    } else {
      step.function = scalarStep(&op);
      assert(step.function && "verified by the map");
    }
    slots[op.getResult(0)] = inputs + static_cast<unsigned>(steps.size());
    steps.push_back(step);
  }
  result = slots.at(block.getTerminator()->getOperand(0));
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
