#include "compiler/check/rounded_body.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

#include "compiler/check/bound.h"
#include "compiler/reference/scalar.h"

namespace sluice::check {
namespace {

using reference::Function;

bool isComparison(Function function) {
  return function >= Function::False && function <= Function::True;
}

/// Whether a function of one argument jumps.
bool jumps(Function function) {
  switch (function) {
  case Function::Ceil:
  case Function::Floor:
  case Function::Round:
  case Function::RoundEven:
  case Function::Trunc:
    return true;
  default:
    return false;
  }
}

/// Whether the result is one of the operands, or one of two numbers: nothing is rounded then.
bool selects(Function function) {
  switch (function) {
  case Function::Neg:
  case Function::Abs:
  case Function::Maximum:
  case Function::Minimum:
  case Function::MaxNum:
  case Function::MinNum:
  case Function::Select:
  case Function::FromBool:
  case Function::And:
  case Function::Or:
  case Function::Xor:
    return true;
  default:
    return isComparison(function) || jumps(function);
  }
}

/// Whether the vector unit computes a function itself, in fp32.
bool isArithmetic(Function function) {
  return function == Function::Add || function == Function::Sub || function == Function::Mul ||
         function == Function::Div || function == Function::Fma || function == Function::Pow ||
         (selects(function) && !jumps(function));
}

bool isEquality(Function function) {
  return function == Function::OrderedEq || function == Function::UnorderedEq;
}
bool isInequality(Function function) {
  return function == Function::OrderedNe || function == Function::UnorderedNe;
}

bool isLogical(Function function) {
  return function == Function::And || function == Function::Or || function == Function::Xor;
}
/// Whether operand 0 is a boolean.
bool dependsOnCondition(Function function) {
  return function == Function::Select || function == Function::FromBool || isLogical(function);
}

/// x ^ y as exp(y log |x|), the logarithm and the product rounded.
double roundedPower(double x, double y, Rounding &rounding) {
  const double exact = std::pow(x, y);
  if (!std::isfinite(exact) || exact == 0)
    return exact;
  const double magnitude = std::exp(rounding(y * rounding(std::log(std::fabs(x)))));
  return std::copysign(magnitude, exact);
}

/// Nearer to the middle between two integers than this, fp32 does not tell on which side a quotient
/// lies.
constexpr double kTie = 0x1p-10;

/// The machine's tables of periodic functions end behind this argument.
constexpr double kMostPeriodic = 4080;

} // namespace

RoundedBody::RoundedBody(mlir::Region &body) {
  mlir::Block &block = body.front();
  llvm::DenseMap<mlir::Value, unsigned> slots;
  std::vector<bool> constant, computed;
  std::vector<llvm::SmallBitVector> reads; // operands that a slot depends on
  // Whether a function table or arithmetic on several operands makes it.
  std::vector<bool> handedOn;
  const unsigned arguments = block.getNumArguments();
  for (mlir::Value argument : block.getArguments()) {
    reads.emplace_back(arguments).set(inputCount);
    slots[argument] = inputCount++;
    constant.push_back(false);
    computed.push_back(false);
    handedOn.push_back(false);
  }
  for (mlir::Operation &op : block.without_terminator()) {
    Step step;
    bool anyComputed = false, anyHandedOn = false;
    llvm::SmallBitVector all(arguments);
    reference::Applied applied{};
    if (!llvm::isa<mlir::arith::ConstantOp>(op))
      applied = reference::appliedBy(&op);
    for (auto [i, operand] : llvm::enumerate(applied.operands)) {
      step.operands[i] = slots.at(operand);
      step.isConstant[i] = constant[step.operands[i]];
      step.isComputed[i] = computed[step.operands[i]];
      anyComputed |= step.isComputed[i];
      anyHandedOn |= handedOn[step.operands[i]];
      all |= reads[step.operands[i]];
    }
    if (llvm::isa<mlir::arith::ConstantOp>(op)) {
      step.constant = reference::constantOf(llvm::cast<mlir::arith::ConstantOp>(op));
      constant.push_back(true);
      computed.push_back(false);
      handedOn.push_back(false);
    } else {
      step.function = applied.function;
      step.compute = reference::stepOf(*step.function);
      constant.push_back(false);
      computed.push_back(!selects(*step.function) || anyComputed);
      const bool isTable = !isArithmetic(*step.function);
      unsigned variable = 0; // operands that are no constants
      for (unsigned i = 0; i < applied.operands.size(); ++i)
        variable += step.isConstant[i] ? 0 : 1;
      for (unsigned i = 0; i < applied.operands.size(); ++i) {
        const unsigned operand = step.operands[i];
        step.isRounded[i] =
            handedOn[operand] && (isTable ? reads[operand].count() > 1 : variable > 1);
      }
      // With a constant, a function of one operand stays one.
      handedOn.push_back(isTable || anyHandedOn || (variable > 1 && computed.back()));
    }
    reads.push_back(all);
    slots[op.getResult(0)] = inputCount + static_cast<unsigned>(steps.size());
    steps.push_back(step);
  }
  resultSlot = slots.at(block.getTerminator()->getOperand(0));
}

void RoundedBody::runStep(const Step &step, const std::vector<Values> &slots,
                          std::span<Rounding> roundings, Values &result) const {
  const auto operandsOf = [&](size_t variant) {
    return std::array{slots[step.operands[0]][variant], slots[step.operands[1]][variant],
                      slots[step.operands[2]][variant]};
  };
  const Function function = *step.function;
  const auto exact = operandsOf(0);
  result[0] = step.compute(exact.data());
  // How far the argument of a jump may be off.
  const auto reach = [&](size_t operand) {
    double most = 0;
    for (size_t variant = 1; variant < result.size(); ++variant)
      most = std::max(most, std::abs(slots[step.operands[operand]][variant] - exact[operand]));
    return kTimesMoved * most + (step.isComputed[operand] ? spacingOfBf16(exact[operand]) : 0);
  };
  double off = 0;
  if (isComparison(function))
    off = reach(0) + reach(1);
  else if (jumps(function) || function == Function::Rem)
    off = reach(0);
  const bool mayJump = off > 0 && std::isfinite(off);
  for (size_t variant = 1; variant < result.size(); ++variant) {
    Rounding &rounding = roundings[variant - 1];
    auto operands = operandsOf(variant);
    for (size_t i = 0; i < operands.size(); ++i)
      if (step.isRounded[i])
        operands[i] = rounding(operands[i]);
    const auto isFinite = [&](const std::array<double, 3> &values) {
      return std::isfinite(values[0]) && (!isComparison(function) || std::isfinite(values[1]));
    };
    const bool staysFinite = isFinite(operands);
    const auto isUnknown = [&](size_t i) {
      return std::isnan(operands[i]) && !std::isnan(exact[i]);
    };
    const bool isDown = rounding.direction() == Rounding::Direction::Down;
    // If an operand or a condition is NaN in this direction alone, the result is unknown.
    if (isDown &&
        ((isComparison(function) && (isUnknown(0) || isUnknown(1))) ||
         (dependsOnCondition(function) && isUnknown(0)) || (isLogical(function) && isUnknown(1)))) {
      result[variant] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    // NaN is no integer in particular.
    if (function == Function::RoundEven && std::isnan(operands[0]) &&
        rounding.direction() == Rounding::Direction::Up) {
      result[variant] = 0;
      continue;
    }
    // Nothing is known of a comparison with what is not finite in this direction of rounding alone.
    if (isComparison(function) && !staysFinite && isFinite(exact)) {
      result[variant] = (isDown ? result[0] == 0 : rounding.choice() > 0) ? 1 : 0;
      continue;
    }
    if (mayJump && staysFinite && rounding.direction() != Rounding::Direction::Nearest) {
      operands = exact;
      if (isEquality(function) || isInequality(function)) {
        const bool equal = std::abs(exact[0] - exact[1]) <= off && rounding.choice() > 0;
        result[variant] = equal == isEquality(function) ? 1 : 0;
        continue;
      }
      operands[0] += off * rounding.choice();
    }
    switch (function) {
    case Function::Div:
      result[variant] =
          step.isConstant[1] ? operands[0] / operands[1] : operands[0] * rounding(1 / operands[1]);
      break;
    case Function::Pow:
      result[variant] = step.isConstant[1] ? step.compute(operands.data())
                                           : roundedPower(operands[0], operands[1], rounding);
      break;
    case Function::Sin:
    case Function::Cos:
    case Function::Tan:
      result[variant] = std::abs(operands[0]) <= kMostPeriodic
                            ? step.compute(operands.data())
                            : std::numeric_limits<double>::quiet_NaN();
      break;
    default:
      result[variant] = step.compute(operands.data());
    }
  }
}

void RoundedBody::runExactly(const Step &step, const std::vector<Values> &slots,
                             std::span<Rounding> roundings, Values &result) {
  for (size_t variant = 0; variant < result.size(); ++variant) {
    std::array operands{slots[step.operands[0]][variant], slots[step.operands[1]][variant],
                        slots[step.operands[2]][variant]};
    if (variant > 0 && step.function == Function::RoundEven)
      operands[0] += kTie * roundings[variant - 1].choice();
    result[variant] = step.compute(operands.data());
  }
}

void RoundedBody::run(size_t count, const std::vector<std::vector<const double *>> &inputs,
                      std::span<Rounding> roundings, std::span<double *const> results,
                      bool isExact) const {
  const size_t variants = inputs.size();
  std::vector<Values> slots(std::max<size_t>(inputCount + steps.size(), 1), Values(variants));
  for (size_t i = 0; i < steps.size(); ++i)
    if (!steps[i].function)
      std::ranges::fill(slots[inputCount + i], steps[i].constant);
  for (size_t element = 0; element < count; ++element) {
    for (unsigned operand = 0; operand < inputCount; ++operand)
      for (size_t variant = 0; variant < variants; ++variant)
        slots[operand][variant] = inputs[variant][operand][element];
    for (size_t i = 0; i < steps.size(); ++i)
      if (steps[i].function) {
        Values &result = slots[inputCount + i];
        if (isExact)
          runExactly(steps[i], slots, roundings, result);
        else
          runStep(steps[i], slots, roundings, result);
      }
    for (size_t variant = 0; variant < variants; ++variant)
      results[variant][element] = slots[resultSlot][variant];
  }
}

} // namespace sluice::check
